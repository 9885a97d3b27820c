import type { RunSettings } from '@rondo/contract';
import { z } from 'zod';

const usd = z.coerce.number().positive().optional();
const tokens = z.coerce.number().int().positive().optional();

/** Default and maximum budgets of runs. */
export const runBudgetVariables = {
  DEFAULT_RUN_BUDGET_USD: usd.meta({
    description: 'The `budget.usd` of a run that names none and whose model has a known price.',
    unit: 'USD',
    otherwise: 'none, or MAX_RUN_BUDGET_USD',
  }),
  DEFAULT_RUN_BUDGET_TOKENS: tokens.meta({
    description: 'The `budget.tokens` of a run that names none.',
    unit: 'tokens',
    otherwise: 'none, or MAX_RUN_BUDGET_TOKENS',
  }),
  MAX_RUN_BUDGET_USD: usd.meta({
    description: 'The most that a run may ask for as its `budget.usd`.',
    unit: 'USD',
    otherwise: 'anything',
  }),
  MAX_RUN_BUDGET_TOKENS: tokens.meta({
    description: 'The most that a run may ask for as its `budget.tokens`.',
    unit: 'tokens',
    otherwise: 'anything',
  }),
  BUDGET_ON_EXCEEDED: z
    .enum(['end', 'wait'])
    .default('end')
    .describe(
      'What a run does that has used up its budget and does not say so itself (`budget.on_exceeded`): it ends, or waits for a higher one.',
    ),
};

type RunBudgetVariables = z.infer<z.ZodObject<typeof runBudgetVariables>>;

export const runBudgets = (config: RunBudgetVariables) => ({
  budget: {
    ...toBudget(config.DEFAULT_RUN_BUDGET_USD, config.DEFAULT_RUN_BUDGET_TOKENS),
    ...(config.BUDGET_ON_EXCEEDED === 'wait' && { on_exceeded: config.BUDGET_ON_EXCEEDED }),
  },
  maxBudget: toBudget(config.MAX_RUN_BUDGET_USD, config.MAX_RUN_BUDGET_TOKENS),
});

const toBudget = (inUsd: number | undefined, inTokens: number | undefined): RunSettings['budget'] => ({
  ...(inUsd !== undefined && { usd: inUsd }),
  ...(inTokens !== undefined && { tokens: inTokens }),
});
