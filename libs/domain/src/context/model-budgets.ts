import { oncePer } from '../once-per';
import type { RunSettings } from '../run-settings';

/** How many tokens a request to a model may have, beside those kept free for the reply. */
export interface ModelBudget {
  /** Of `provider/model`. */
  readonly model: RegExp;
  readonly inputTokens: number;
}

/** The first that fits counts. What a provider allows and what a reply may take of it is behind each figure. */
export const modelBudgets: readonly ModelBudget[] = [
  { model: /claude|sonnet/i, inputTokens: 136_000 },
  { model: /gpt/i, inputTokens: 100_000 },
  { model: /gemini/i, inputTokens: 700_000 },
  { model: /deepseek/i, inputTokens: 100_000 },
  { model: /^demo(-anthropic)?\//, inputTokens: 100_000 },
];

/** Of models that nothing is known about. */
const cautious = 31_000;

/** What a run says wins over the table. */
export const inputBudgetOf = oncePer(
  ({ model, context }: Pick<RunSettings, 'model' | 'context'>): number =>
    context.input_budget_tokens ?? budgetOfModel(model),
);

export const budgetOfModel = (model: string, budgets: readonly ModelBudget[] = modelBudgets): number =>
  budgets.find((budget) => budget.model.test(model))?.inputTokens ?? cautious;
