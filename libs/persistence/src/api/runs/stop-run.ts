import {
  type AccountId,
  type NewId,
  type NewFact,
  type RecordedFact,
  type Run,
  type RunId,
  type RunStatus,
  isTerminal,
  isParked,
  runId,
} from '@rondo/contract';
import {
  type Ledger,
  type PendingStop,
  type StopRequest,
  leavesProcesses,
  openCalls,
  runAgentTool,
  stopUnheldRun,
} from '@rondo/domain';
import type { Database } from '../../database/database';
import { type RunRow, readStop, toRun } from '../../run-log/run-row';
import { activated, toOutbox } from '../../database/run-activation';
import { writeFacts } from '../../run-log/group-commit';
import { readReply } from '../../run-log/read-reply';
import type { Sql } from '../../database/sql';
import { readOpenCalls } from './open-calls';
import { collectEndedChildren } from './child-runs/collect-children';
import { listUnstoppedBelow } from './child-runs/runs-below';
import { type RunAddress, lockRun, readRun } from './lock-run';
import { promoteNext } from './promote-run';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';

export interface StopOrder extends RunAddress {
  readonly reason: string | null;
  /** The run is to end as failed, with this message. The runs below it are stopped. */
  readonly error?: string | undefined;
}

export interface StoppedRun {
  /** `stopping` if a worker holds it and needs a signal; else `stopped`. */
  readonly run: Run;
  /** Committed facts to publish, also those of a run that came forward on the thread. */
  readonly facts: readonly RecordedFact[];
  readonly changed: boolean;
  /** What the workers must be told, with the reason that was given first: of the run and of those below it that are not over. */
  readonly stops: readonly PendingStop[];
}

const runsToStop = createQuery(
  z.object({ id: runId }),
  `
select id from runs where account_id = $1 and finished_at is null and stop_requested_at is null order by id limit 100`,
);

/** Some of the account's unfinished runs without a stop request. */
export const listUnstopped = async (sql: Sql, accountId: AccountId): Promise<readonly RunId[]> =>
  (await runsToStop.all(sql, [accountId])).map(({ id }) => id);

/** Stops a run and every run below it. */
export async function stopRun(database: Database, newId: NewId, order: StopOrder): Promise<StoppedRun> {
  const stopped = await stopOne(database, newId, order);
  const below = await stopBelow(database, newId, { ...order, reason: order.reason ?? order.error ?? null });
  return { ...stopped, facts: [...stopped.facts, ...below.facts], stops: [...stopped.stops, ...below.stops] };
}

/** Until none is left: a run that was told later than its own run started may have started another one. */
export async function stopBelow(
  database: Database,
  newId: NewId,
  { accountId, runId, reason }: StopOrder,
): Promise<Pick<StoppedRun, 'facts' | 'stops'>> {
  const facts: RecordedFact[] = [];
  const stops: PendingStop[] = [];
  for (;;) {
    const runs = await listUnstoppedBelow(database.sql, runId);
    if (runs.length === 0) return { facts, stops };
    for (const id of runs) {
      const order = { accountId, runId: id, reason: `${runId} was stopped${reason === null ? '' : `: ${reason}`}` };
      const one = await stopOne(database, newId, order);
      facts.push(...one.facts);
      stops.push(...one.stops);
    }
  }
}

async function stopOne(database: Database, newId: NewId, order: StopOrder): Promise<StoppedRun> {
  const stopped = await database.transaction(async (sql) => {
    const facts = await stopLocked(sql, newId, { row: await lockRun(sql, order), ...order });
    return { row: await readRun(sql, order.runId), facts };
  });
  const { row, facts } = stopped;
  const run = toRun(row);
  const freed = facts.length > 0 && isTerminal(run.status);
  const promoted = freed ? await promoteNext(database, newId, run.thread_id) : undefined;
  const collected = freed && run.parent_run_id ? await collectEndedChildren(database, newId, run.parent_run_id) : [];
  const changed = facts.length > 0;
  return {
    run,
    facts: [...facts, ...(promoted ?? []), ...collected],
    changed,
    stops: pendingStops(run, readStop(row)),
  };
}

const pendingStops = ({ id, status }: Run, stop: StopRequest | undefined): PendingStop[] =>
  stop === undefined || isTerminal(status) ? [] : [{ runId: id, stop }];

const keepError = `update runs set stop_error = $2 where id = $1`;

/** Stops a run whose row is locked. No facts where it was over, or told before. */
export async function stopLocked(
  sql: Sql,
  newId: NewId,
  { row, reason, error }: { row: RunRow; reason: string | null; error?: string | undefined },
): Promise<readonly RecordedFact[]> {
  const run = toRun(row);
  if (isTerminal(run.status) || run.stop_requested_at !== null) return [];

  const requested_at = new Date().toISOString();
  const { iteration } = run;
  const open = await readOpenCalls(sql, newId, run);
  const asked = { reason, requested_at, ...(error !== undefined && { error }) };
  const told: NewFact = { type: 'run.stop_requested', iteration, data: asked };
  const isOverNow = isIdle(row, run.status, open.state);
  const needsWorker = isOverNow && (hasChildren(open.state) || (await ranCommands(sql, run.id)));
  if (needsWorker) await sql.query(returnToWorkers, [run.id]);
  const stop = { requestedAt: requested_at, reason, error };
  const unheld = isOverNow && !needsWorker && { usage: run.usage, reply: await readReply(sql, run) };
  const facts = unheld ? [told, ...stopUnheldRun(open, unheld, stop)] : [told];
  if (error !== undefined) await sql.query(keepError, [run.id, error]);
  return writeFacts(sql, { runId: run.id, threadId: run.thread_id, epoch: run.epoch }, { facts, newId });
}

/** Runs that it has started, which it must see ended. */
const hasChildren = (open: { readonly calls: Ledger }): boolean =>
  openCalls(open).some(({ call, status }) => status === 'dispatched' && call.name === runAgentTool.name);

const toolsOfRun = createQuery(
  z.object({ name: z.string() }),
  `select distinct name from tool_calls where run_id = $1 and status <> 'planned'`,
);

/** Its commands may have left something running, which a worker has ended before it ends the run. */
async function ranCommands(sql: Sql, id: RunId): Promise<boolean> {
  const tools = await toolsOfRun.all(sql, [id]);
  return tools.some(({ name }) => leavesProcesses(name));
}

/** Has a worker look at a run that waits for a person, for a summarizer, or for runs that it must see ended. */
const returnToWorkers = `
with activated as (
  update runs set queue = 'runs', queue_since = clock_timestamp(), activation = activation + 1, activated_at = clock_timestamp()
  where id = $1 returning ${activated}
)
${toOutbox('activated')}`;

/**
 * No worker holds it and none of its calls is running, so there is nothing to abort. A run whose holder died during a
 * call is not idle: the next holder ends the call and answers it (I6). A waiting run has no call that a worker or executor runs.
 */
const isIdle = ({ lease_owner }: RunRow, status: RunStatus, open: { readonly calls: Ledger }): boolean =>
  lease_owner === null && (isParked(status) || openCalls(open).every(({ isUndecided }) => isUndecided));
