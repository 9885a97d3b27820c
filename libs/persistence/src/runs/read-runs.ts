import {
  type AccountId,
  type Message,
  type Run,
  type RunStatus,
  type ThreadId,
  type ToolCall,
  callId,
  runId,
} from '@rondo/domain';
import { type MessageRow, messageOf } from '../message-row';
import { type Page, type PageRequest, BoundedList, idOfCursor, invalidCursor, pageOf } from '../page';
import { type RunRow, runOf } from '../run-row';
import type { Sql } from '../sql';
import { type ToolCallRow, toolCallOf } from '../tool-call-row';
import { type RunAddress, runNotFound } from './lock-run';

export interface RunFilter extends PageRequest {
  readonly accountId: AccountId;
  readonly status?: RunStatus | undefined;
  readonly threadId?: ThreadId | undefined;
}

/** A run whose thread was deleted is gone with it. */
export const visibleRun = `
select runs.* from runs join threads on threads.id = thread_id
where runs.id = $1 and runs.account_id = $2 and deleted_at is null`;

export async function getRun(sql: Sql, { accountId, runId: id }: RunAddress): Promise<Run> {
  const [row] = await sql.query<RunRow>(visibleRun, [id, accountId]);
  if (!row) throw runNotFound(id);
  return runOf(row);
}

const newestRuns = `
select runs.* from runs join threads on threads.id = thread_id
where runs.account_id = $1 and deleted_at is null
  and ($2::text is null or runs.id < $2) and ($3::text is null or status = $3) and ($4::text is null or thread_id = $4)
order by runs.id desc limit $5`;

export async function listRuns(sql: Sql, { accountId, after, status, threadId, limit }: RunFilter): Promise<Page<Run>> {
  const before = after === undefined ? null : idOfCursor(after, runId);
  const rows = await sql.query<RunRow>(newestRuns, [accountId, before, status ?? null, threadId ?? null, limit + 1]);
  return pageOf(rows.map(runOf), limit);
}

const callsOfRun = `select * from tool_calls where run_id = $1 order by iteration, index, id`;

const callsAfter = new BoundedList(
  `select * from tool_calls where run_id = $1 and (iteration, index, id) > ($2, $3, $4)
  order by iteration, index, id limit $5`,
  {
    order: 'iteration, index, id',
    length: 'octet_length(arguments::text) + coalesce(octet_length(result::text), 0)',
  },
  toolCallOf,
);

const placeOfCall = `select iteration, index, id from tool_calls where id = $1 and run_id = $2`;

type CallPlace = Pick<ToolCallRow, 'iteration' | 'index' | 'id'>;

/** In the order in which the model made them. */
export async function listToolCalls(sql: Sql, run: Run, { after, limit }: PageRequest): Promise<Page<ToolCall>> {
  const place = after === undefined ? undefined : await placeOf(sql, run, after);
  const { iteration = 0, index = 0, id = '' } = place ?? {};
  return callsAfter.page(sql, [run.id, iteration, index, id], limit);
}

async function placeOf(sql: Sql, run: Run, cursor: string): Promise<CallPlace> {
  const [place] = await sql.query<CallPlace>(placeOfCall, [idOfCursor(cursor, callId), run.id]);
  if (!place) throw invalidCursor();
  return place;
}

export const readToolCalls = async (sql: Sql, run: Run): Promise<ToolCall[]> =>
  (await sql.query<ToolCallRow>(callsOfRun, [run.id])).map(toolCallOf);

const messagesOfRun = `select * from messages where thread_id = $1 and run_id = $2 order by seq`;

export const readMessages = async (sql: Sql, run: Run): Promise<Message[]> =>
  (await sql.query<MessageRow>(messagesOfRun, [run.thread_id, run.id])).map(messageOf);

const lastMessagesOfRun = `
select * from (
  select * from messages where thread_id = $1 and run_id = $2 and is_llm_message order by seq desc limit $3
) as last order by seq`;

export const readLastMessages = async (sql: Sql, run: Run, limit: number): Promise<Message[]> =>
  (await sql.query<MessageRow>(lastMessagesOfRun, [run.thread_id, run.id, limit])).map(messageOf);
