import type { RunSettings } from '@rondo/contract';
import { findDeclaredFacts, findKnownFacts } from './model-facts';
import { type ModelEnd, contextOverflow } from './model';
import { type ModelProviders, splitModelName } from './provider-settings';

/** The most tokens that a request to a model may have; the space for the reply is subtracted already. */
export type ResolveBudget = (model: string) => number;

interface ModelBudget {
  /** Matches `provider/model`. */
  readonly model: RegExp;
  readonly inputTokens: number;
}

/** The first match counts. Each figure is the model's context window less a long reply. */
const modelBudgets: readonly ModelBudget[] = [
  { model: /claude|sonnet/i, inputTokens: 136_000 },
  { model: /gpt/i, inputTokens: 100_000 },
  { model: /gemini/i, inputTokens: 700_000 },
  { model: /deepseek/i, inputTokens: 100_000 },
  { model: /^demo(-anthropic)?\//, inputTokens: 100_000 },
];

/** The budget of models that nothing is known about, in tokens. */
const unknownModelBudget = 31_000;

export const budgetOfModel: ResolveBudget = (model) =>
  modelBudgets.find((budget) => budget.model.test(model))?.inputTokens ?? unknownModelBudget;

/** A context window that a provider's configuration declares, or that is known, overrides the table. */
export const toBudgets =
  ({ providers }: Pick<ModelProviders, 'providers'>): ResolveBudget =>
  (model) => {
    const { provider: name, id } = splitModelName(model);
    const provider = providers.find((one) => one.name === name);
    const declared = provider && findDeclaredFacts(provider, id);
    const facts = declared?.context_window ? declared : findKnownFacts(name, id);
    return facts?.context_window ? lessReply(facts.context_window, facts.max_output_tokens) : budgetOfModel(model);
  };

/** The share of a window for a reply of unknown length, and the most that a reply is given. */
const usualReplyShare = 1 / 4;
const longestReplyShare = 1 / 2;

const lessReply = (window: number, reply = window * usualReplyShare): number =>
  Math.floor(window - Math.min(reply, window * longestReplyShare));

/** The run's own setting overrides the model's budget. */
export const toInputBudget = (
  { model, context }: Pick<RunSettings, 'model' | 'context'>,
  resolveBudget: ResolveBudget,
): number => context.input_budget_tokens ?? resolveBudget(model);

/** The share of the budget from which on a refusal without a clear reason is taken as one for the length. */
const suspiciousShare = 0.8;

interface SentRequest {
  /** The most tokens that a request to the model should have. */
  readonly budgetTokens: number;
  /** Those that it has; they are counted only where the refusal leaves its reason open. */
  readonly countTokens: () => Promise<number>;
}

/**
 * Whether a provider refused a request for its length. Providers say it in ever new words, so a refusal of a request that nearly
 * fills the budget counts, too.
 */
export async function wasTooLong(end: ModelEnd, { budgetTokens, countTokens }: SentRequest): Promise<boolean> {
  if (end.how !== 'failed') return false;
  if (end.error.code !== 'invalid_request') return end.error.code === contextOverflow;
  return (await countTokens()) >= budgetTokens * suspiciousShare;
}
