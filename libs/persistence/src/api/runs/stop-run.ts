import {
  type NewId,
  type NewFact,
  type RecordedFact,
  type Run,
  type RunId,
  type RunStatus,
  isTerminal,
  isWaiting,
} from '@rondo/contract';
import {
  type KnownCalls,
  type PendingStop,
  closeOpenCalls,
  leavesProcesses,
  nothingRan,
  openCalls,
} from '@rondo/domain';
import type { Database } from '../../database/database';
import { type RunRow, runOf } from '../../run-log/run-row';
import { activated, outboxOf } from '../../run-log/activation';
import { batchOf } from '../../run-log/batch';
import { writeBatch } from '../../run-log/group-commit';
import type { Sql } from '../../database/sql';
import { openCallsOf } from './open-calls';
import { type RunAddress, lockRun, readRun } from './lock-run';
import { promoteNext } from './promote-run';

export interface StopOrder extends RunAddress {
  readonly reason: string | null;
}

export interface StoppedRun {
  /** `stopping` if a worker holds it and needs a signal; else `stopped`. */
  readonly run: Run;
  /** Committed facts to publish, also those of a run that came forward on the thread. */
  readonly facts: readonly RecordedFact[];
  readonly changed: boolean;
  /** What the workers must be told, with the reason that was given first. Undefined when the run is over. */
  readonly stop: PendingStop | undefined;
}

export async function stopRun(database: Database, newId: NewId, order: StopOrder): Promise<StoppedRun> {
  const stopped = await database.transaction(async (sql) => {
    const facts = await stopLocked(sql, newId, { row: await lockRun(sql, order), reason: order.reason });
    return { row: await readRun(sql, order.runId), facts };
  });
  const { row, facts } = stopped;
  const run = runOf(row);
  const freed = facts.length > 0 && isTerminal(run.status);
  const promoted = freed ? await promoteNext(database, newId, run.thread_id) : undefined;
  const stop = pendingStopOf(run, row.stop_reason);
  return { run, facts: [...facts, ...(promoted ?? [])], changed: facts.length > 0, stop };
}

function pendingStopOf({ id, status, stop_requested_at: requestedAt }: Run, reason: string | null) {
  return requestedAt === null || isTerminal(status) ? undefined : { runId: id, stop: { requestedAt, reason } };
}

/** Stops a run whose row is locked. No facts where it was over, or told before. */
export async function stopLocked(
  sql: Sql,
  newId: NewId,
  { row, reason }: { row: RunRow; reason: string | null },
): Promise<readonly RecordedFact[]> {
  const run = runOf(row);
  if (isTerminal(run.status) || run.stop_requested_at !== null) return [];

  const requested_at = new Date().toISOString();
  const { iteration } = run;
  const open = await openCallsOf(sql, newId, run);
  const told: NewFact = { type: 'run.stop_requested', iteration, data: { reason, requested_at } };
  const data = { reason, receipt: { ...nothingRan, requested_at }, usage: run.usage };
  const stopped: NewFact = { type: 'run.stopped', iteration, data };
  const isOverNow = isIdle(row, run.status, open.state);
  const mayHaveLeftProcesses = isOverNow && (await ranCommands(sql, run.id));
  if (mayHaveLeftProcesses) await sql.query(returnToWorkers, [run.id]);
  const facts = isOverNow && !mayHaveLeftProcesses ? [told, ...closeOpenCalls(open, 'was stopped'), stopped] : [told];
  return writeBatch(sql, batchOf({ runId: run.id, threadId: run.thread_id, epoch: run.epoch }, facts, newId));
}

const toolsOfRun = `select distinct name from tool_calls where run_id = $1 and status <> 'planned'`;

/** Its commands may have left something running, which a worker has ended before it ends the run. */
async function ranCommands(sql: Sql, id: RunId): Promise<boolean> {
  const tools = await sql.query<{ name: string }>(toolsOfRun, [id]);
  return tools.some(({ name }) => leavesProcesses(name));
}

/** Has a worker look at a run that waits for a person, or for a summarizer. */
const returnToWorkers = `
with activated as (
  update runs set queue = 'runs', queue_since = clock_timestamp(), activation = activation + 1, activated_at = clock_timestamp()
  where id = $1 returning ${activated}
)
${outboxOf('activated')}`;

/**
 * No worker holds it and none of its calls is running, so there is nothing to abort. A run whose holder died during a
 * call is not idle: the next holder ends the call and answers it (I6). A waiting run has no running call.
 */
const isIdle = ({ lease_owner }: RunRow, status: RunStatus, open: { readonly calls: KnownCalls }): boolean =>
  lease_owner === null && (isWaiting(status) || openCalls(open).every(({ isUndecided }) => isUndecided));
