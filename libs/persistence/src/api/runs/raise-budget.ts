import type { NewFact, NewId, RecordedFact, Run } from '@rondo/contract';
import { type BudgetRaise, TerminalError, raiseBudget } from '@rondo/domain';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { activateRun } from '../../database/run-activation';
import { writeFacts } from '../../run-log/group-commit';
import { toRun } from '../../run-log/run-row';
import { type PendingKey, storeResponse } from '../idempotency-keys';
import { resumeForTreeBudget } from './child-runs/tree-budget';
import { type RunAddress, lockRun, readRun } from './lock-run';

/** The new budget of a run. Parts that are not given stay. */
export interface BudgetOrder extends RunAddress, BudgetRaise {
  /** The id of the API key. */
  readonly raisedBy: string;
  readonly promised?: PendingKey<Run> | undefined;
}

export interface RaisedBudget {
  readonly run: Run;
  /** Committed facts to publish. */
  readonly facts: readonly RecordedFact[];
}

/** The holder of a claim learns of the new budget at the latest when it is refused to park or end the run for the old one. */
const newBudget = `
update runs set settings = $2::json, raised_in_epoch = case when lease_owner is null then raised_in_epoch else epoch end
where id = $1`;

/** Raises the budget, and queues the run if it waits for that, and runs below it that wait for the budget of their tree. The same order again changes nothing. */
export async function raiseRunBudget(database: Database, newId: NewId, order: BudgetOrder): Promise<RaisedBudget> {
  const raised = await raiseOwn(database, newId, order);
  const below = await resumeForTreeBudget(database, newId, order.runId);
  return { ...raised, facts: [...raised.facts, ...below] };
}

const raiseOwn = (database: Database, newId: NewId, order: BudgetOrder): Promise<RaisedBudget> =>
  database.transaction(async (sql) => {
    const run = toRun(await lockRun(sql, order));
    const facts = await writeRaise(sql, newId, { run, told: raiseBudget(run, order, order.raisedBy) });
    const raised = await storeResponse(sql, order.promised, toRun(await readRun(sql, run.id)));
    return { run: raised, facts };
  });

async function writeRaise(
  sql: Sql,
  newId: NewId,
  { run, told }: { run: Run; told: ReturnType<typeof raiseBudget> },
): Promise<readonly RecordedFact[]> {
  if ('problem' in told) throw new TerminalError(told.code, told.problem);
  if (told.facts.length === 0) return [];
  await sql.query(newBudget, [run.id, JSON.stringify({ ...run.settings, budget: told.budget })]);
  const facts = await writeFacts(
    sql,
    { runId: run.id, threadId: run.thread_id, epoch: run.epoch },
    { facts: told.facts, newId },
  );
  if (told.facts.some(isResumption)) await activateRun(sql, run.id);
  return facts;
}

const isResumption = ({ type }: NewFact): boolean => type === 'run.resumed';
