import {
  type CallId,
  type InputAnswer,
  type NewId,
  type RecordedFact,
  type Run,
  type RunId,
  type ToolCall,
  connectName,
  messageId,
  runId,
} from '@rondo/contract';
import { type InputRuling, TerminalError, findFormProblem, giveInput } from '@rondo/domain';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { activateRun } from '../../database/run-activation';
import { writeFacts } from '../../run-log/group-commit';
import { toRun } from '../../run-log/run-row';
import { type PendingKey, storeResponse } from '../idempotency-keys';
import { lockRun } from './lock-run';
import { readOpenCalls } from './open-calls';
import { type CallAddress, type ResolvedCall, readCall, runOfCall } from './resolve-tool-call';
import { readableJson } from '../../database/stored-text';

/** A person's answer to what an MCP server asks while one of its tools is called. */
export interface InputOrder extends CallAddress {
  /** Which question of the call. Absent: the only one. */
  readonly key?: string | undefined;
  readonly answer: InputAnswer;
  /** The id of the API key. */
  readonly answeredBy: string;
  readonly promised?: PendingKey<ToolCall> | undefined;
}

/** Locks the run's row, so of two answers at the same time one is accepted. Rejects with `tool_call_not_found` and `input_not_asked`. */
export const giveCallInput = (database: Database, newId: NewId, order: InputOrder): Promise<ResolvedCall> =>
  database.transaction(async (sql) => {
    const { accountId, callId, answer, answeredBy } = order;
    const run = toRun(await lockRun(sql, { accountId, runId: await runThatAsks(sql, order) }));
    const asked = run.waiting?.elicitations?.filter(({ tool_call_id }) => tool_call_id === callId) ?? [];
    const found = order.key === undefined && asked.length === 1 ? asked[0] : asked.find(({ key }) => key === order.key);
    if (!found || Date.parse(found.expires_at) < Date.now())
      throw new TerminalError(
        'input_not_asked',
        whyNot(
          run,
          callId,
          asked.map(({ key }) => key),
        ),
      );
    requireForm(found.fields, answer);
    const facts = await writeInput(sql, newId, {
      run,
      ruling: { tool_call_id: callId, key: found.key, answer, answeredBy },
    });
    const answered = found.name === connectName ? await toStartCall(sql, run, callId) : await readCall(sql, callId);
    const toolCall = await storeResponse(sql, order.promised, answered);
    return { toolCall, facts };
  });

/** A run that waits before its start asks under ids that are of no call. */
const askingRun = createQuery(
  z.object({ id: runId }),
  `
select runs.id from runs cross join json_array_elements(${readableJson('runs.waiting')}->'elicitations') as asked
where account_id = $1 and waiting is not null and started_at is null and asked->>'tool_call_id' = $2`,
);

async function runThatAsks(sql: Sql, order: CallAddress): Promise<RunId> {
  const asking = await askingRun.first(sql, [order.accountId, order.callId]);
  return asking?.id ?? runOfCall(sql, order);
}

const inputOfRun = createQuery(
  z.object({ id: messageId }),
  `select id from messages where run_id = $1 order by seq limit 1`,
);

/** What is answered where no call is: the run's wait for a connection, in the form of the call that it stands for. */
async function toStartCall(sql: Sql, { id: run_id }: Run, id: CallId): Promise<ToolCall> {
  const input = await inputOfRun.first(sql, [run_id]);
  return {
    ...{
      id,
      run_id,
      iteration: 1,
      index: 0,
      name: connectName,
      arguments: {},
      dialect: 'native',
      effect_class: 'pure',
    },
    ...{ status: 'planned', result: null, attempt: 0, message_id: input?.id ?? messageId.parse('msg_none') },
    ...{ started_at: null, finished_at: null },
  };
}

/** Cancels what was not answered in time. The run's row is locked. */
export const expireInput = async (
  sql: Sql,
  newId: NewId,
  { run, callId }: { readonly run: Run; readonly callId: CallId },
): Promise<readonly RecordedFact[]> => {
  const now = Date.now();
  const overdue = run.waiting?.elicitations?.find(
    ({ tool_call_id, expires_at }) => tool_call_id === callId && Date.parse(expires_at) < now,
  );
  if (!overdue) return [];
  const { key } = overdue;
  return writeInput(sql, newId, {
    run,
    ruling: { tool_call_id: callId, key, answer: { action: 'cancel' }, answeredBy: null },
  });
};

async function writeInput(
  sql: Sql,
  newId: NewId,
  { run, ruling }: { readonly run: Run; readonly ruling: InputRuling },
): Promise<readonly RecordedFact[]> {
  const told = giveInput(await readOpenCalls(sql, newId, run), ruling, run.waiting?.elicitations ?? []);
  if (!told) throw new TerminalError('input_not_asked', whyNot(run, ruling.tool_call_id, []));
  const facts = await writeFacts(
    sql,
    { runId: run.id, threadId: run.thread_id, epoch: run.epoch },
    { facts: told, newId },
  );
  if (told.some(({ type }) => type === 'run.resumed')) await activateRun(sql, run.id);
  return facts;
}

function requireForm(
  fields: Parameters<typeof findFormProblem>[0] | undefined,
  { action, content }: InputAnswer,
): void {
  if (action !== 'accept' || !fields) {
    if (content === undefined) return;
    throw new TerminalError('invalid_request', 'content: only with the action accept, and for a form.');
  }
  const problem = findFormProblem(fields, content ?? {});
  if (problem) throw new TerminalError('invalid_request', `content.${problem.field}: ${problem.message}.`);
}

function whyNot({ id, status }: Run, call: CallId, keys: readonly string[]): string {
  if (keys.length > 0) return `${call} asks no such question, or its time is over. It asks: ${keys.join(', ')}.`;
  return `${call} asks for nothing; ${id} is ${status}.`;
}
