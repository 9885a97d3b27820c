import {
  type AccountId,
  type CallId,
  type NewId,
  type RecordedFact,
  type Run,
  type RunId,
  type ToolCall,
  runId,
} from '@rondo/contract';
import { type CallResolution, TerminalError, resolveCall } from '@rondo/domain';
import type { Database } from '../../database/database';
import { type PendingKey, storeResponse } from '../idempotency-keys';
import { toRun } from '../../run-log/run-row';
import { activateRun } from '../../database/run-activation';
import { writeFacts } from '../../run-log/group-commit';
import type { Sql } from '../../database/sql';
import { toolCallRow } from '../../run-log/tool-call-row';
import { readOpenCalls } from './open-calls';
import { lockRun } from './lock-run';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';

export interface CallAddress {
  readonly accountId: AccountId;
  readonly callId: CallId;
}

/** A person's decision about a call with an unknown outcome. */
export interface CallRuling extends CallAddress, CallResolution {
  readonly promised?: PendingKey<ToolCall> | undefined;
}

export interface ResolvedCall {
  readonly toolCall: ToolCall;
  /** Committed facts to publish. */
  readonly facts: readonly RecordedFact[];
}

/** Locks the run's row, so of two concurrent decisions one is accepted. */
export const resolveToolCall = (database: Database, newId: NewId, ruling: CallRuling): Promise<ResolvedCall> =>
  database.transaction(async (sql) => {
    const { accountId, callId } = ruling;
    const run = toRun(await lockRun(sql, { accountId, runId: await runOfCall(sql, ruling) }));
    const told = run.status === 'waiting_input' && resolveCall(await readOpenCalls(sql, newId, run), callId, ruling);
    if (!told) throw new TerminalError('tool_call_not_unknown', whyNot(run, callId));

    const claim = { runId: run.id, threadId: run.thread_id, epoch: run.epoch };
    const facts = await writeFacts(sql, claim, { facts: told, newId });
    if (told.some(({ type }) => type === 'run.resumed')) await activateRun(sql, run.id);
    const toolCall = await storeResponse(sql, ruling.promised, await readCall(sql, callId));
    return { toolCall, facts };
  });

const runByCall = createQuery(
  z.object({ run_id: runId }),
  `
select run_id from tool_calls join runs on runs.id = run_id join threads on threads.id = thread_id
where tool_calls.id = $1 and runs.account_id = $2 and deleted_at is null`,
);

/** Throws `tool_call_not_found`. */
export async function runOfCall(sql: Sql, { accountId, callId }: CallAddress): Promise<RunId> {
  const row = await runByCall.first(sql, [callId, accountId]);
  if (!row) throw callNotFound(callId);
  return row.run_id;
}

const callById = createQuery(toolCallRow, `select * from tool_calls where id = $1`);

export async function readCall(sql: Sql, id: CallId): Promise<ToolCall> {
  const row = await callById.first(sql, [id]);
  if (!row) throw callNotFound(id);
  return row;
}

export const callNotFound = (id: CallId): TerminalError =>
  new TerminalError('tool_call_not_found', `There is no tool call ${id}.`);

const whyNot = ({ id, status }: Run, call: CallId): string =>
  status === 'waiting_input'
    ? `${call} awaits no decision.`
    : `${call} awaits no decision: ${id} does not wait for one, it is ${status}.`;
