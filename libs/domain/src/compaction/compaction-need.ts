import type { Coverage, NewFact, NewMessage } from '@rondo/contract';
import type { LoopContext } from '../loop/loop-context';
import { type RunPosition, frameText, messagesToSend } from '../loop/prompt';
import { type RunState, iterationsDone } from '../run/run-state';
import { compactifyMemory } from '../tools/memory.tools';
import { type ContextBudget, contextBudgetOf, tailTokens } from '../context/context-budget';
import type { CountedRequest } from '../context/context-meter';
import { type SummarizableConversation, rangeBeforeTail, rangeBetween, turnCount } from './summary-range';
import { textOf } from '../context/message-text';
import { type MessageRange, coverageOf, rangeOf } from '../context/message-range';

/** How full the next request is. */
export interface ContextUsage {
  readonly tokens: number;
  readonly allowance: ContextBudget;
}

export type Reason = Extract<NewFact, { type: 'context.compaction_started' }>['data']['reason'];

type Loaded = Pick<LoopContext, 'run' | 'state' | 'ports' | 'meter'>;

/** So far that nothing need be counted, and nobody asks for anything to be folded. */
export function isFarFromLimit({ run, state, ports, meter }: Loaded): boolean {
  const { limit, reserve } = allowanceFor({ run, state, ports }, 0);
  if (meter.atMost(nextRequest({ run, state })) + reserve >= limit) return false;
  return !isRequested(state) && !hasManyTurns({ run, state });
}

export async function contextUsageOf({ run, state, ports, meter }: Loaded): Promise<ContextUsage> {
  const request = nextRequest({ run, state });
  const allowance = allowanceFor({ run, state, ports }, await meter.ofFrame(request.frame));
  return { tokens: await meter.countTokens(request), allowance };
}

const nextRequest = (standing: RunPosition): CountedRequest => ({
  frame: frameText(standing.run),
  messages: messagesToSend(standing),
});

const allowanceFor = ({ run: { settings }, state, ports }: Omit<Loaded, 'meter'>, frame: number): ContextBudget =>
  contextBudgetOf({ settings, budgetOf: ports.budgetOf, frame, refusedTokens: state.context.refusedTokens });

/** Nothing was tried since the last iteration ended. */
export const isFresh = (state: RunState): boolean => state.context.compactedIn !== iterationsDone(state);

/** What of the conversation is to be folded now, and why; undefined where nothing is, or can be. */
export async function rangeToSummarize(
  pass: Loaded,
  load: ContextUsage,
): Promise<{ covers: Coverage; reason: Reason } | undefined> {
  const reason = reasonToFold(pass, load);
  const stretch = reason && (await chosenStretch(pass, load, reason));
  const covers = stretch && coverageOf(pass.state.conversation, stretch);
  return covers && { covers, reason };
}

function reasonToFold({ run, state }: RunPosition, { tokens, allowance }: ContextUsage): Reason | undefined {
  if (!isFresh(state)) return undefined;
  if (isRequested(state)) return 'requested';
  if (run.settings.context.strategy === 'none' || isBackingOff(state)) return undefined;
  return tokens + allowance.reserve >= allowance.limit || hasManyTurns({ run, state }) ? 'threshold' : undefined;
}

/** By the model, in the iteration that has just ended, or by the user, in so many words and nothing since (SM23). */
const isRequested = ({ calls, conversation }: RunState): boolean =>
  isCompactCommand(conversation.at(-1)) ||
  [...calls.values()].some(({ call, status }) => call.name === compactifyMemory.name && status === 'completed');

const isCompactCommand = (newest: NewMessage | undefined): boolean =>
  newest?.type === 'user' && textOf(newest).trim() === '/compact';

const hasManyTurns = ({ run, state }: RunPosition): boolean =>
  run.settings.context.strategy === 'head_tail' && turnCount(foldable(state)) > run.settings.context.max_turns;

const longestPause = 16;

/** A summarizer that failed is left alone for longer each time. */
function isBackingOff({ context: { failures, compactedIn }, ...state }: RunState): boolean {
  return failures > 0 && iterationsDone(state) - compactedIn < Math.min(2 ** failures, longestPause);
}

const foldable = ({ conversation, context }: RunState): SummarizableConversation => ({
  conversation,
  folded: rangeOf(conversation, context.summary?.covers),
});

async function chosenStretch(
  { run, state, meter }: Loaded,
  { allowance }: ContextUsage,
  reason: Reason,
): Promise<MessageRange | undefined> {
  const { strategy, max_turns: maxTurns, keep_first: keepFirst } = run.settings.context;
  const whole = foldable(state);
  if (strategy === 'head_tail') return rangeBetween(whole, { maxTurns, keepFirst });

  const begins = (whole.folded?.last ?? -1) + 1;
  const weights = await meter.ofMessages(state.conversation.slice(begins));
  return rangeBeforeTail(whole, {
    tailTokens: reason === 'requested' ? 0 : tailTokens(allowance),
    tokensOf: ({ first, last }) =>
      weights.slice(first - begins, last - begins + 1).reduce((sum, weight) => sum + weight, 0),
  });
}
