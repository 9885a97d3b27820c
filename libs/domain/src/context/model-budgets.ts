import { declaredFactsOf } from '../models/model-facts';
import { type ModelProviders, splitModelName } from '../models/provider-settings';
import type { RunSettings } from '@rondo/contract';

/** How many tokens a request to a model may have, beside those kept free for the reply. */
export type BudgetOf = (model: string) => number;

interface ModelBudget {
  /** Of `provider/model`. */
  readonly model: RegExp;
  readonly inputTokens: number;
}

/** The first that fits counts. What a provider allows and what a reply may take of it is behind each figure. */
const modelBudgets: readonly ModelBudget[] = [
  { model: /claude|sonnet/i, inputTokens: 136_000 },
  { model: /gpt/i, inputTokens: 100_000 },
  { model: /gemini/i, inputTokens: 700_000 },
  { model: /deepseek/i, inputTokens: 100_000 },
  { model: /^demo(-anthropic)?\//, inputTokens: 100_000 },
];

/** Of models that nothing is known about. */
const cautious = 31_000;

export const budgetOfModel: BudgetOf = (model) =>
  modelBudgets.find((budget) => budget.model.test(model))?.inputTokens ?? cautious;

/** What a provider's configuration declares of a model's context window wins over the table. */
export const budgetsOf =
  ({ providers }: Pick<ModelProviders, 'providers'>): BudgetOf =>
  (model) => {
    const { provider: name, id } = splitModelName(model);
    const provider = providers.find((one) => one.name === name);
    const declared = provider && declaredFactsOf(provider, id);
    return declared?.context_window
      ? besideReply(declared.context_window, declared.max_output_tokens)
      : budgetOfModel(model);
  };

/** Of a window, for a reply of which nothing is known, and for one that may fill it. */
const usualReply = 1 / 4;
const longestReply = 1 / 2;

const besideReply = (window: number, reply = window * usualReply): number =>
  Math.floor(window - Math.min(reply, window * longestReply));

/** What a run says wins over all. */
export const inputBudgetOf = ({ model, context }: Pick<RunSettings, 'model' | 'context'>, budgetOf: BudgetOf): number =>
  context.input_budget_tokens ?? budgetOf(model);
