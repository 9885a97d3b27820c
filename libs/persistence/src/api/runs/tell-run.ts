import { type NewId, type RecordedFact, type RunId, type ThreadId, runId, userContent } from '@rondo/contract';
import { type Claim, RunChangedError, TerminalError, type WaitingMessage } from '@rondo/domain';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Sql } from '../../database/sql';
import { runRow } from '../../run-log/run-row';
import { stopLocked } from './stop-run';

/**
 * A message to a run at work is the input of a queued run. The run at work may read it; then the queued run ends before it has
 * begun. If it ends without having read it, the queued run begins as any other: no message is lost, and none is read twice.
 */
const unreadBy = `from runs where thread_id = $1 and steers = $2 and not holds_thread and finished_at is null`;

/** So many messages wait for a run at most, and it reads them at once. They count as no active runs of the account. */
const mostUnread = 100;

const unreadCount = createQuery(z.object({ unread: z.number() }), `select count(*)::int as unread ${unreadBy}`);

const unread = createQuery(
  z.object({ id: runId, queued_input: userContent }),
  `select id, queued_input ${unreadBy} order by thread_id, id limit ${mostUnread}`,
);

const address = `update runs set steers = $2 where id = $1`;

/** Holds for a row of `runs` that is such a message only: it has begun no run. */
export const isMessageToRun = '(steers is not null and started_at is null and not holds_thread)';

/** The epoch has the end of the run refused that its holder decides on before it knows of the message. */
const tell = `update runs set raised_in_epoch = epoch where id = $1`;

/** The thread has no active run that could read the message. */
export class NoRunToTell extends Error {
  override readonly name = 'NoRunToTell';
}

/** The caller has locked the active run. Rejects with `too_many_active_runs` where too many messages wait for it. */
export async function steerRun(
  sql: Sql,
  { queued, active, threadId }: { queued: RunId; active: RunId; threadId: ThreadId },
): Promise<void> {
  const { unread = 0 } = (await unreadCount.first(sql, [threadId, active])) ?? {};
  if (unread >= mostUnread) {
    const detail = `${mostUnread} messages wait for ${active} already, which reads them before its next iteration.`;
    throw new TerminalError('too_many_active_runs', detail);
  }
  await sql.query(address, [queued, active]);
  await sql.query(tell, [active]);
}

/** What people have told a run and it has not read, in order. */
export async function readWaitingMessages(sql: Sql, claim: Claim): Promise<readonly WaitingMessage[]> {
  const rows = await unread.all(sql, [claim.threadId, claim.runId]);
  return rows.map(({ id, queued_input }) => ({ queuedRun: id, content: queued_input }));
}

const lockRuns = createQuery(runRow, `select * from runs where id = any($1::text[]) order by id for no key update`);

const markRead = `update runs set message_read = true where id = any($1::text[])`;

interface Reading {
  readonly claim: Claim;
  readonly newId: NewId;
  /** The queued runs of the messages that are read. */
  readonly read: readonly RunId[];
}

/**
 * Ends the queued runs of messages, in the transaction that writes that they are read, and resolves to the facts of that. Rejects
 * with RunChangedError if one was withdrawn.
 */
export async function endRunsRead(
  sql: Sql,
  { claim, newId, read }: Reading,
  write: () => Promise<boolean>,
): Promise<readonly RecordedFact[] | undefined> {
  const rows = await lockRuns.all(sql, [[claim.runId, ...read]]);
  const waiting = rows.filter(({ id, finished_at }) => id !== claim.runId && finished_at === null);
  if (waiting.length < read.length) throw new RunChangedError(claim.runId);
  if (!(await write())) return undefined;
  await sql.query(markRead, [read]);
  const facts: RecordedFact[] = [];
  for (const row of waiting) facts.push(...(await stopLocked(sql, newId, { row, reason: `read by ${claim.runId}` })));
  return facts;
}
