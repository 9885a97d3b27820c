import {
  type AccountId,
  type Message,
  type RecordedFact,
  type Run,
  type RunId,
  type ThreadId,
  type ToolCall,
  callId,
  runId,
  threadId,
} from '@rondo/contract';
import { z } from 'zod';
import { readShownMessage, messageRow } from '../../run-log/message-row';
import { type Page, type PageRequest, BoundedList, bytesInPage, idOfCursor, invalidCursor, withinPage } from '../page';
import { factRow, runRow, toFact, toRun } from '../../run-log/run-row';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { toolCallRow } from '../../run-log/tool-call-row';
import { type RunAddress, runNotFound } from './lock-run';
import { createQuery } from '../../database/checked-query';

/** A run of a deleted thread is not found. */
export const visibleRun = createQuery(
  runRow,
  `
select runs.* from runs join threads on threads.id = thread_id
where runs.id = $1 and runs.account_id = $2 and deleted_at is null`,
);

export async function getRun(sql: Sql, { accountId, runId: id }: RunAddress): Promise<Run> {
  const row = await visibleRun.first(sql, [id, accountId]);
  if (!row) throw runNotFound(id);
  return toRun(row);
}

const heads = createQuery(
  z.object({ id: runId, last_seq: z.number() }),
  `
select runs.id, last_seq from runs join threads on threads.id = thread_id
where runs.id = any($1::text[]) and deleted_at is null`,
);

export async function readHeads(sql: Sql, ids: readonly RunId[]): Promise<ReadonlyMap<RunId, number>> {
  const rows = await heads.all(sql, [ids]);
  return new Map(rows.map(({ id, last_seq }) => [id, last_seq]));
}

/** A message that waits for a run at work is a queued run until that has read it, and counts as none of its own. */
export const activeOfAccount = `
select from runs where account_id = $1 and finished_at is null and (steers is null or holds_thread)`;

const activeRuns = createQuery(
  z.object({ active: z.number() }),
  `select count(*)::int as active from (${activeOfAccount} limit $2) as counted`,
);

/** The account's runs that are not over, those that wait too. Counts no further than `atMost`. */
export async function countActive(sql: Sql, accountId: AccountId, atMost: number): Promise<number> {
  const row = await activeRuns.first(sql, [accountId, atMost]);
  return row?.active ?? 0;
}

const leaseOwner = createQuery(
  z.object({ workerId: z.string(), threadId }),
  `
select lease_owner as "workerId", thread_id as "threadId" from runs
where id = $1 and account_id = $2 and lease_owner is not null`,
);

/** A worker that holds a run now, as far as Postgres knows, and where the run stands. */
export interface RunHolder {
  readonly workerId: string;
  readonly threadId: ThreadId;
}

export async function findHolder(
  { sql }: Database,
  { accountId, runId: id }: RunAddress,
): Promise<RunHolder | undefined> {
  return leaseOwner.first(sql, [id, accountId]);
}

const callsAfter = new BoundedList(
  `select * from tool_calls where run_id = $1 and (iteration, index, id) > ($2, $3, $4)
  order by iteration, index, id limit $5`,
  {
    order: 'iteration, index, id',
    length: 'octet_length(arguments::text) + coalesce(octet_length(result::text), 0)',
  },
  toolCallRow,
);

const placeOfCall = createQuery(
  z.object({ iteration: z.number(), index: z.number(), id: callId }),
  `select iteration, index, id from tool_calls where id = $1 and run_id = $2`,
);

type CallPlace = Pick<ToolCall, 'iteration' | 'index' | 'id'>;

/** In the order in which the model made them. */
export async function listToolCalls(sql: Sql, run: Run, { after, limit }: PageRequest): Promise<Page<ToolCall>> {
  const place = after === undefined ? undefined : await readPlace(sql, run, after);
  const { iteration = 0, index = 0, id = '' } = place ?? {};
  return callsAfter.page(sql, [run.id, iteration, index, id], limit);
}

async function readPlace(sql: Sql, run: Run, cursor: string): Promise<CallPlace> {
  const place = await placeOfCall.first(sql, [idOfCursor(cursor, callId), run.id]);
  if (!place) throw invalidCursor();
  return place;
}

/** With these the model says something. The arguments of other tools are not part of a result. */
const saysWords = `name in ('complete', 'message_user')`;

/** Reads only the last texts of the model, and the newest results of tools. */
const callsOfRun = createQuery(
  toolCallRow.omit({ adjusted: true, program: true }).extend({ omitted: z.boolean() }),
  `
select id, run_id, iteration, index, name, dialect, effect_class, status, attempt, message_id, started_at, finished_at,
  case when fits and ${saysWords} then arguments else '{}' end as arguments,
  case when fits then result end as result, not fits and result is not null as omitted
from (
  select *, sum(
    coalesce(octet_length(result::text), 0) + case when ${saysWords} then octet_length(arguments::text) else 0 end
  ) over (order by iteration desc, index desc, id desc) <= ${bytesInPage} as fits
  from tool_calls where run_id = $1
) as measured
order by iteration, index, id`,
);

/** A call of a run that ended; `omitted` if its result and those of later calls exceed the size limit. */
type CallOfResult = ToolCall & { readonly omitted: boolean };

/** All calls in order, with the newest results up to the size limit. */
export const readCallsOfResult = (sql: Sql, run: Run): Promise<CallOfResult[]> => callsOfRun.all(sql, [run.id]);

const contentLength = { order: 'seq desc', length: 'octet_length(content::text)' };

const assistantMessagesOfRun = createQuery(
  messageRow,
  `${withinPage(
    `select * from messages where thread_id = $1 and run_id = $2 and type = 'assistant' order by seq desc`,
    contentLength,
  )} order by seq`,
);

/** The newest texts of the model up to the size limit, in order. */
export const readFinalTexts = async (sql: Sql, run: Run): Promise<Message[]> =>
  (await assistantMessagesOfRun.all(sql, [run.thread_id, run.id])).map(readShownMessage);

const lastMessagesOfRun = createQuery(
  messageRow,
  `${withinPage(
    `select * from messages where thread_id = $1 and run_id = $2 and is_llm_message order by seq desc limit $3`,
    contentLength,
  )} order by seq`,
);

/** The newest `limit` messages, or fewer if they exceed the size limit, in order. */
export const readLastMessages = async (sql: Sql, run: Run, limit: number): Promise<Message[]> =>
  (await lastMessagesOfRun.all(sql, [run.thread_id, run.id, limit])).map(readShownMessage);

const sentCalls = createQuery(
  factRow,
  `
select id, seq, type, run_id, $2 as thread_id, iteration, epoch, at, data
from run_events where run_id = $1 and type in ('tool.planned', 'tool.started') order by seq`,
);

/** The facts that say which calls of a run were planned and sent, in order. */
export const readSentCalls = async (
  { sql }: Database,
  { id, thread_id }: Pick<Run, 'id' | 'thread_id'>,
): Promise<readonly RecordedFact[]> => (await sentCalls.all(sql, [id, thread_id])).map(toFact);

const tracedRun = createQuery(runRow, `select * from runs where id = $1 and trace_id is not null`);

/** A run of any account, for the span of it; undefined if it is not traced. */
export async function readTracedRun({ sql }: Database, id: RunId): Promise<Run | undefined> {
  const row = await tracedRun.first(sql, [id]);
  return row && toRun(row);
}
