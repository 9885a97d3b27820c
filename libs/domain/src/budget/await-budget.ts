import type { NewFact, RunId, Usage } from '@rondo/contract';
import type { LoopContext } from '../loop-context';

/** A budget that does not cover the next model call. */
export interface LackingBudget {
  readonly budget: LoopContext['run']['settings']['budget'];
  readonly spent: Usage;
  /** Of the tree whose budget it is; absent: it is that of the run itself. */
  readonly rootRunId?: RunId;
}

/** Whether the run waits for a higher budget when its own is used up, instead of ending. */
export const waitsForBudget = ({ run }: Pick<LoopContext, 'run'>): boolean => mayWaitFor(run.settings);

export const mayWaitFor = ({ budget }: Pick<LackingBudget, 'budget'>): boolean => budget.on_exceeded === 'wait';

/** Parks the run until the budget is raised, and says how much of it is used. */
export const awaitBudget = (iteration: number, { budget, spent, rootRunId }: LackingBudget): NewFact => ({
  type: 'run.waiting',
  iteration,
  data: {
    reason: 'budget',
    budget: {
      usd: budget.usd ?? null,
      tokens: budget.tokens ?? null,
      spent_usd: spent.cost_usd,
      spent_tokens: spent.input_tokens + spent.output_tokens,
      ...(rootRunId !== undefined && { root_run_id: rootRunId }),
    },
  },
});
