import type { RunSettings } from '@rondo/contract';
import { type BudgetOf, inputBudgetOf } from './model-budgets';

/** How large a request of a run may be, in tokens. */
export interface ContextBudget {
  /** More than this is never sent (I13). */
  readonly budget: number;
  /** Kept free below either limit: counts are near, not exact. */
  readonly reserve: number;
  /** From here on the conversation is made smaller. */
  readonly limit: number;
  /** What is sent beside the conversation. */
  readonly frame: number;
}

/** A summary and the recent words that stay beside it may each take this share of the room. */
const share = 1 / 4;
/** What a provider refused once is not tried again. */
const belowRefused = 0.9;

interface Given {
  readonly settings: RunSettings;
  readonly budgetOf: BudgetOf;
  readonly frame: number;
  readonly refusedTokens: number | undefined;
}

/** A threshold that the prompt and the tools fill alone would fold after every word, so a conversation has its share. */
export function contextBudgetOf({ settings, budgetOf, frame, refusedTokens = Infinity }: Given): ContextBudget {
  const { strategy, token_threshold, reserve_tokens } = settings.context;
  const budget = Math.min(inputBudgetOf(settings, budgetOf), Math.floor(refusedTokens * belowRefused));
  const reserve = Math.min(reserve_tokens, Math.floor(budget * share));
  const wanted = Math.max(token_threshold, frame + reserve + Math.floor(token_threshold * share));
  const limit = strategy === 'none' ? budget : Math.min(wanted, budget);
  return { budget, reserve, limit, frame };
}

/** What a conversation may have below a limit. */
export const tokensBelow = (limit: number, { reserve, frame }: ContextBudget): number =>
  Math.max(0, limit - reserve - frame);

export const tailTokens = (allowance: ContextBudget): number =>
  Math.floor(tokensBelow(allowance.limit, allowance) * share);

const shortestSummary = 200;

/** A summary that took the whole room would have to be folded again at once. */
export const summaryTokens = (allowance: ContextBudget, { context }: RunSettings): number =>
  Math.max(shortestSummary, Math.min(context.summary_target_tokens, tailTokens(allowance)));
