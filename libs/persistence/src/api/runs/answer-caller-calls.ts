import {
  type AccountId,
  type AwaitedCall,
  type CallId,
  type CallerResult,
  type NewId,
  type RecordedFact,
  type RecordedResult,
  type Run,
  type RunId,
  type ToolCall,
  awaitedCall,
  boundResult,
  callId,
  toolCall,
} from '@rondo/contract';
import { type CallerOutcome, TerminalError, settleCallerCalls } from '@rondo/domain';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { activateRun } from '../../database/run-activation';
import { writeFacts } from '../../run-log/group-commit';
import { toRun } from '../../run-log/run-row';
import { toolCallRow } from '../../run-log/tool-call-row';
import { canonicalJson } from '../../run-log/tool-sets';
import { toBlob, toImage, insertBlobRow } from '../blobs/blob-row';
import { type QuotaBounds, writeWithin } from '../billing/quota-bounds';
import { type PendingKey, storeResponse } from '../idempotency-keys';
import { BoundedList, type Page, type PageRequest, idOfCursor } from '../page';
import type { Audience } from '../users/audience';
import { lockRun, readRun, runNotFound } from './lock-run';
import { readOpenCalls } from './open-calls';
import { type CallAddress, callNotFound, runOfCall } from './resolve-tool-call';
import { readableJson } from '../../database/stored-text';

/** A caller's result of one call. */
interface CallerAnswer {
  readonly callId: CallId;
  readonly result: CallerResult;
}

/** Results of calls of one run, all of which are taken or none. */
interface CallerAnswers {
  readonly accountId: AccountId;
  readonly runId: RunId;
  readonly answers: readonly CallerAnswer[];
  /** The id of the API key. */
  readonly answeredBy: string;
  /** Rejects with QuotaReached. */
  readonly bounds?: QuotaBounds | undefined;
}

export interface RunAnswers extends CallerAnswers {
  readonly promised?: PendingKey<Run> | undefined;
}

export interface CallAnswer extends CallAddress, Pick<CallerAnswers, 'answeredBy' | 'bounds'> {
  readonly result: CallerResult;
  readonly promised?: PendingKey<ToolCall> | undefined;
}

/** `facts` are committed, to be published. */
export interface AnsweredCalls {
  readonly run: Run;
  readonly facts: readonly RecordedFact[];
}

export interface AnsweredCall {
  readonly toolCall: ToolCall;
  readonly facts: readonly RecordedFact[];
}

/** Rejects with `tool_call_not_found`, `tool_call_not_awaited`, `tool_call_answered` and `tool_call_over`. The same result again changes nothing. */
export const answerCall = (database: Database, newId: NewId, answer: CallAnswer): Promise<AnsweredCall> =>
  database.transaction(async (sql) => {
    const { accountId, callId: id, result, answeredBy, bounds } = answer;
    const answers = [{ callId: id, result }];
    const facts = await writeAnswers(sql, newId, {
      ...{ accountId, answers, answeredBy, bounds },
      runId: await runOfCall(sql, answer),
    });
    const call = await readCall(sql, id);
    return { toolCall: await storeResponse(sql, answer.promised, call), facts };
  });

/** The same for several calls of a run, in one transaction. */
export const answerCalls = (database: Database, newId: NewId, answers: RunAnswers): Promise<AnsweredCalls> =>
  database.transaction(async (sql) => {
    const facts = await writeAnswers(sql, newId, answers);
    const run = await storeResponse(sql, answers.promised, toRun(await readRun(sql, answers.runId)));
    return { run, facts };
  });

/** Images are stored before the run is locked: a transaction that stores the same image waits for this one. */
async function writeAnswers(sql: Sql, newId: NewId, given: CallerAnswers): Promise<readonly RecordedFact[]> {
  const { accountId, runId, answeredBy } = given;
  const threadId = await threadOfRun(sql, given);
  const results = await writeWithin(sql, given, () => storeResults(sql, { accountId, threadId }, given.answers));
  const run = toRun(await lockRun(sql, { accountId, runId }));
  const outcomes = new Map<CallId, CallerOutcome>();
  for (const [id, result] of results) {
    const awaited = findAwaited(run, id);
    if (awaited && Date.parse(awaited.expires_at) > Date.now())
      outcomes.set(id, { how: 'answered', result, durationMs: msSince(awaited.requested_at), answeredBy });
    else await requireSameResult(sql, { run, id, result });
  }
  return writeOutcomes(sql, newId, { run, outcomes });
}

/** Ends a call whose result did not come in time. The run's row is locked. */
export function expireCalls(
  sql: Sql,
  newId: NewId,
  { run, callId: id }: { readonly run: Run; readonly callId: CallId },
): Promise<readonly RecordedFact[]> {
  const awaited = findAwaited(run, id);
  if (!awaited) return Promise.resolve([]);
  const durationMs = Date.parse(awaited.expires_at) - Date.parse(awaited.requested_at);
  return writeOutcomes(sql, newId, { run, outcomes: new Map([[id, { how: 'expired', durationMs }]]) });
}

async function writeOutcomes(
  sql: Sql,
  newId: NewId,
  { run, outcomes }: { readonly run: Run; readonly outcomes: ReadonlyMap<CallId, CallerOutcome> },
): Promise<readonly RecordedFact[]> {
  if (outcomes.size === 0) return [];
  const awaited = run.waiting?.tool_calls ?? [];
  const policy = run.settings.processor.unknown_outcome;
  const told = settleCallerCalls(await readOpenCalls(sql, newId, run), { awaited, outcomes, policy });
  const claim = { runId: run.id, threadId: run.thread_id, epoch: run.epoch };
  const facts = await writeFacts(sql, claim, { facts: told, newId });
  if (told.some(({ type }) => type === 'run.resumed')) await activateRun(sql, run.id);
  return facts;
}

const findAwaited = ({ status, waiting }: Run, id: CallId): AwaitedCall | undefined =>
  status === 'waiting_tool' ? waiting?.tool_calls?.find(({ tool_call_id }) => tool_call_id === id) : undefined;

const msSince = (time: string): number => Math.max(0, Date.now() - Date.parse(time));

const selectThread = createQuery(
  z.object({ thread_id: z.string() }),
  `
select thread_id from runs join threads on threads.id = thread_id
where runs.id = $1 and runs.account_id = $2 and deleted_at is null`,
);

async function threadOfRun(sql: Sql, { runId, accountId }: CallerAnswers): Promise<string> {
  const row = await selectThread.first(sql, [runId, accountId]);
  if (!row) throw runNotFound(runId);
  return row.thread_id;
}

/** The results as they are stored, with images as blobs, which are inserted in a fixed order. */
async function storeResults(
  sql: Sql,
  owner: { readonly accountId: AccountId; readonly threadId: string },
  answers: readonly CallerAnswer[],
): Promise<ReadonlyMap<CallId, RecordedResult>> {
  const read = answers.map(({ callId: id, result: { image, ...said } }) => ({
    id,
    said,
    blob: image && toBlob(image),
  }));
  const blobs = read.flatMap(({ blob }) => blob ?? []).sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
  for (const blob of blobs) await insertBlobRow(sql, owner, blob);
  return new Map(
    read.map(({ id, said: { output = '', error }, blob }) => [
      id,
      boundResult({
        ...{ success: error === undefined, output },
        ...(error !== undefined && { error }),
        ...(blob && { image: toImage(blob) }),
      }),
    ]),
  );
}

const callById = createQuery(toolCallRow, `select * from tool_calls where id = $1`);

async function readCall(sql: Sql, id: CallId): Promise<ToolCall> {
  const row = await callById.first(sql, [id]);
  if (!row) throw callNotFound(id);
  return row;
}

interface LateAnswer {
  readonly run: Run;
  readonly id: CallId;
  readonly result: RecordedResult;
}

/** A call that awaits no result may have got this very one. Throws why it takes no other. */
async function requireSameResult(sql: Sql, { run, id, result }: LateAnswer): Promise<void> {
  const call = await readCall(sql, id);
  if (call.run_id !== run.id) throw callNotFound(id);
  const isCallers = run.settings.caller_tools?.some(({ name }) => name === call.name) === true;
  if (!isCallers) throw new TerminalError('tool_call_not_awaited', `${call.name} is no tool of a caller.`);
  if (call.status === 'planned')
    throw new TerminalError('tool_call_not_awaited', `${id} was not sent yet: something else comes before it.`);
  if (await wasAnswered(sql, call)) {
    if (canonicalJson(call.result) === canonicalJson(result)) return;
    throw new TerminalError('tool_call_answered', `${id} has another result already.`);
  }
  throw new TerminalError('tool_call_over', `${id} takes no result any more: its time is over, or its run was ended.`);
}

const answeredCall = createQuery(
  z.object({ was_answered: z.boolean() }),
  `
select exists (
  select from run_events
  where run_id = $1 and iteration = $2 and type in ('tool.completed', 'tool.failed') and ${readableJson('data')}->>'tool_call_id' = $3
    and ${readableJson('data')}->>'answered_by' is not null
) as was_answered`,
);

/** By its caller, and not by the end of its time or of its run. Where retention has deleted the fact, success says it. */
async function wasAnswered(sql: Sql, { id, run_id, iteration, result }: ToolCall): Promise<boolean> {
  const row = await answeredCall.first(sql, [run_id, iteration, id]);
  return row?.was_answered === true || result?.success === true;
}

/** A call that waits for a result of its caller, with its arguments. */
export const awaitedCallRow = toolCall
  .pick({ id: true, run_id: true, name: true, arguments: true, effect_class: true, attempt: true })
  .extend({
    thread_id: z.string(),
    requested_at: awaitedCall.shape.requested_at,
    expires_at: awaitedCall.shape.expires_at,
  });
export type AwaitedCallRow = z.infer<typeof awaitedCallRow>;

const awaitedCalls = new BoundedList(
  `select tool_calls.id, tool_calls.run_id, runs.thread_id, tool_calls.name, tool_calls.arguments, tool_calls.effect_class,
    tool_calls.attempt, awaited->>'requested_at' as requested_at, awaited->>'expires_at' as expires_at
  from runs
  join threads on threads.id = runs.thread_id
  cross join json_array_elements(${readableJson('runs.waiting')}->'tool_calls') as awaited
  join tool_calls on tool_calls.id = awaited->>'tool_call_id'
  where runs.account_id = $1 and runs.waiting is not null and runs.status = 'waiting_tool' and threads.deleted_at is null
    and ($2::text is null or tool_calls.id > $2) and ($3::text is null or runs.id = $3)
    and ($4::text is null or threads.end_user = $4) and ($5::text is null or threads.id = $5)
  order by tool_calls.id limit $6`,
  { order: 'id', length: 'octet_length(arguments::text)' },
  awaitedCallRow,
);

export interface AwaitedCallFilter extends PageRequest {
  readonly accountId: AccountId;
  readonly runId?: RunId | undefined;
  /** Only those of this audience. */
  readonly within?: Audience | undefined;
}

/** The calls that wait for a result of their caller, the oldest first. */
export async function listAwaitedCalls(
  sql: Sql,
  { accountId, runId, within, after, limit }: AwaitedCallFilter,
): Promise<Page<AwaitedCallRow>> {
  const before = after === undefined ? null : idOfCursor(after, callId);
  return awaitedCalls.page(
    sql,
    [accountId, before, runId ?? null, within?.user ?? null, within?.threadId ?? null],
    limit,
  );
}
