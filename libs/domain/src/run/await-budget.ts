import type { NewFact, Usage } from '@rondo/contract';
import type { LoopContext } from '../loop/loop-context';

type BudgetedRun = Pick<LoopContext, 'run' | 'state'>;

/** Whether the run waits for a higher budget when its own is used up, instead of ending. */
export const waitsForBudget = ({ run }: Pick<LoopContext, 'run'>): boolean =>
  run.settings.budget.on_exceeded === 'wait';

/** Parks the run until its budget is raised, and says how much of it is used. */
export const awaitBudget = ({ run, state }: BudgetedRun): NewFact => ({
  type: 'run.waiting',
  iteration: state.iteration,
  data: { reason: 'budget', budget: { ...limitsOf(run.settings.budget), ...spentOf(state.usage) } },
});

const limitsOf = ({ usd, tokens }: LoopContext['run']['settings']['budget']) => ({
  usd: usd ?? null,
  tokens: tokens ?? null,
});

const spentOf = ({ cost_usd, input_tokens, output_tokens }: Usage) => ({
  spent_usd: cost_usd,
  spent_tokens: input_tokens + output_tokens,
});
