import { type NewId, type RecordedFact, type RunId, runId, userContent } from '@rondo/contract';
import { type Claim, RunChangedError, type WaitingMessage } from '@rondo/domain';
import { z } from 'zod';
import { checked } from '../../database/checked-query';
import type { Sql } from '../../database/sql';
import { runRow } from '../../run-log/run-row';
import { stopLocked } from './stop-run';

/**
 * A message to a run at work is the input of a queued run. The run at work may read it; then the queued run ends before it has
 * begun. If it ends without having read it, the queued run begins as any other: no message is lost, and none is read twice.
 */
const address = `update runs set steers = $2 where id = $1`;

/** The epoch has the end of the run refused that its holder decides on before it knows of the message. */
const tell = `update runs set raised_in_epoch = epoch where id = $1`;

/** The caller has locked the active run. */
export async function steerRun(sql: Sql, { queued, active }: { queued: RunId; active: RunId }): Promise<void> {
  await sql.query(address, [queued, active]);
  await sql.query(tell, [active]);
}

const unread = checked(
  z.object({ id: runId, queued_input: userContent }),
  `
select id, queued_input from runs
where thread_id = $1 and steers = $2 and not holds_thread and finished_at is null
order by thread_id, id limit 100`,
);

/** What people have told a run and it has not read, in order. */
export async function readWaitingMessages(sql: Sql, claim: Claim): Promise<readonly WaitingMessage[]> {
  const rows = await unread.all(sql, [claim.threadId, claim.runId]);
  return rows.map(({ id, queued_input }) => ({ queuedRun: id, content: queued_input }));
}

const lockRuns = checked(runRow, `select * from runs where id = any($1::text[]) order by id for no key update`);

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
  const facts: RecordedFact[] = [];
  for (const row of waiting) facts.push(...(await stopLocked(sql, newId, { row, reason: `read by ${claim.runId}` })));
  return facts;
}
