import { type NewId, type RecordedFact, type RunId, usualThreadLimits } from '@rondo/contract';
import type { StoppedChild, TreeBudget } from '@rondo/domain';
import type { Database } from '../../../database/database';
import { StatementBatcher } from '../../../database/statement-batcher';
import { type FirstRows, insertRuns, measureLength } from '../insert-run';
import { type StopOrder, stopBelow, stopRun } from '../stop-run';
import { collectEndedChildren, parentsOfEndedChildren } from './collect-children';
import { listOrphans, listStoppedBelow, runsNotToWait } from './runs-below';
import { type ChildOrder, type StartedChild, startChild } from './start-child';
import { resumeForTreeBudget, findTreeBudget } from './tree-budget';

/** Runs that start others, for workers. Publish the facts that are returned, and what is in the outbox. */
export class RunTrees {
  private readonly newRuns: StatementBatcher<FirstRows, boolean>;

  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {
    const insert = (runs: readonly FirstRows[]) => insertRuns(database.sql, runs, { newThreads: true });
    this.newRuns = new StatementBatcher(insert, { weigh: measureLength });
  }

  /** Rejects with ClaimLostError if the parent was claimed again. */
  start(order: ChildOrder): Promise<StartedChild> {
    const { database, newId, newRuns } = this;
    return startChild({ database, newId, newRuns, limits: usualThreadLimits }, order);
  }

  /** Requests a stop of every run below a run. */
  async stopBelow(order: StopOrder): Promise<readonly RecordedFact[]> {
    return (await stopBelow(this.database, this.newId, order)).facts;
  }

  listStoppedBelow(id: RunId): Promise<readonly StoppedChild[]> {
    return listStoppedBelow(this.database.sql, id);
  }

  resolveBudget(run: { rootRunId: RunId; runId: RunId }): Promise<TreeBudget | undefined> {
    return findTreeBudget(this.database.sql, run);
  }

  /** Gives a run that waits for its children the results of those that are over. */
  collect(parent: RunId): Promise<readonly RecordedFact[]> {
    return collectEndedChildren(this.database, this.newId, parent);
  }

  /** Does what a process that died in between has left undone in any tree. */
  async catchUp(): Promise<readonly RecordedFact[]> {
    const { database, newId } = this;
    const facts: RecordedFact[] = [];
    for (const parent of await parentsOfEndedChildren(database.sql)) facts.push(...(await this.collect(parent)));
    for (const order of [...(await listOrphans(database.sql)), ...(await runsNotToWait(database.sql))])
      facts.push(...(await stopRun(database, newId, order)).facts);
    return [...facts, ...(await resumeForTreeBudget(database, newId))];
  }
}
