import type { RunSettings } from '@rondo/contract';
import { type ResolveBudget, toInputBudget } from '../models/model-budgets';

/** How large a request of a run may be, in tokens. */
export interface ContextBudget {
  /** A request never has more (I13). */
  readonly maximum: number;
  /** Kept free below either limit, because counts are estimates. */
  readonly reserve: number;
  /** The size from which on the conversation is compacted. */
  readonly limit: number;
  /** What is sent beside the conversation: system prompt and tools. */
  readonly frame: number;
}

/** The part of the space that a summary may take, and the recent messages that stay beside it. */
const share = 1 / 4;
/** Requests stay this far below a size that the provider refused. */
const belowRefused = 0.9;

interface BudgetInput {
  readonly settings: RunSettings;
  readonly resolveBudget: ResolveBudget;
  readonly frame: number;
  readonly refusedTokens: number | undefined;
}

/** The conversation has its share even where prompt and tools alone exceed the threshold; else every message would be compacted at once. */
export function toContextBudget({
  settings,
  resolveBudget,
  frame,
  refusedTokens = Infinity,
}: BudgetInput): ContextBudget {
  const { strategy, token_threshold, reserve_tokens } = settings.context;
  const maximum = Math.min(toInputBudget(settings, resolveBudget), Math.floor(refusedTokens * belowRefused));
  const reserve = Math.min(reserve_tokens, Math.floor(maximum * share));
  const target = Math.max(token_threshold, frame + reserve + Math.floor(token_threshold * share));
  const limit = strategy === 'none' ? maximum : Math.min(target, maximum);
  return { maximum, reserve, limit, frame };
}

/** The tokens that are left for the conversation below a limit. */
export const tokensBelow = (limit: number, { reserve, frame }: ContextBudget): number =>
  Math.max(0, limit - reserve - frame);

export const tailTokens = (budget: ContextBudget): number => Math.floor(tokensBelow(budget.limit, budget) * share);

const shortestSummary = 200;

/** Bounded by a share of the space: a summary that filled it would have to be summarized again at once. */
export const summaryTokens = (budget: ContextBudget, { context }: RunSettings): number =>
  Math.max(shortestSummary, Math.min(context.summary_target_tokens, tailTokens(budget)));
