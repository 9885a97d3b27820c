import type { Coverage, NewFact, NewMessage } from '@rondo/contract';
import { type ContextBudget, toContextBudget, tailTokens } from '../context/context-budget';
import type { CountedRequest } from '../context/context-meter';
import { type MessageRange, findCoverage, findRange } from '../context/message-range';
import { toText } from '../context/message-text';
import type { LoopContext, RunPosition } from '../loop-context';
import { frameText, messagesToSend } from '../prompt/prompt';
import { type RunState, iterationsDone } from '../run/run-state';
import { compactifyMemory } from '../tools/memory.tools';
import { type SummarizableConversation, rangeBeforeTail, rangeBetween, turnCount } from './summary-range';

/** The size of the next request, and the limits that it is held against. */
export interface ContextUsage {
  readonly tokens: number;
  readonly budget: ContextBudget;
}

export type CompactionReason = Extract<NewFact, { type: 'context.compaction_started' }>['data']['reason'];

type MeteredRun = Pick<LoopContext, 'run' | 'state' | 'ports' | 'meter'>;

/** True where an upper bound shows that the limit is far, so that nothing need be counted, and no compaction is requested. */
export function isFarFromLimit({ run, state, ports, meter }: MeteredRun): boolean {
  const { limit, reserve } = budgetFor({ run, state, ports }, 0);
  if (meter.upperBound(nextRequest({ run, state })) + reserve >= limit) return false;
  return !isRequested(state) && !hasManyTurns({ run, state });
}

export async function readContextUsage({ run, state, ports, meter }: MeteredRun): Promise<ContextUsage> {
  const request = nextRequest({ run, state });
  const budget = budgetFor({ run, state, ports }, await meter.ofFrame(request.frame));
  return { tokens: await meter.countTokens(request), budget };
}

const nextRequest = (position: RunPosition): CountedRequest => ({
  frame: frameText(position),
  messages: messagesToSend(position),
});

const budgetFor = ({ run: { settings }, state, ports }: Omit<MeteredRun, 'meter'>, frame: number): ContextBudget =>
  toContextBudget({ settings, resolveBudget: ports.resolveBudget, frame, refusedTokens: state.context.refusedTokens });

/** True where no compaction was tried since the last iteration ended. */
export const mayCompact = (state: RunState): boolean => state.context.compactedIn !== iterationsDone(state);

/** What is to be summarized now, and why. Undefined where nothing needs to be, or nothing can be. */
export async function rangeToSummarize(
  metered: MeteredRun,
  usage: ContextUsage,
): Promise<{ covers: Coverage; reason: CompactionReason } | undefined> {
  const reason = reasonToSummarize(metered, usage);
  const range = reason && (await chooseRange(metered, usage, reason));
  const covers = range && findCoverage(metered.state.conversation, range);
  return covers && { covers, reason };
}

function reasonToSummarize(
  { run, state }: RunPosition,
  { tokens, budget }: ContextUsage,
): CompactionReason | undefined {
  if (!mayCompact(state)) return undefined;
  if (isRequested(state)) return 'requested';
  if (run.settings.context.strategy === 'none' || isBackingOff(state)) return undefined;
  return tokens + budget.reserve >= budget.limit || hasManyTurns({ run, state }) ? 'threshold' : undefined;
}

/** Whether the model asked for it by a tool call of the last iteration, or the user by `/compact` as the newest message. */
const isRequested = ({ calls, conversation }: RunState): boolean =>
  isCompactCommand(conversation.at(-1)) ||
  [...calls.values()].some(({ call, status }) => call.name === compactifyMemory.name && status === 'completed');

const isCompactCommand = (newest: NewMessage | undefined): boolean =>
  newest?.type === 'user' && toText(newest).trim() === '/compact';

const hasManyTurns = ({ run, state }: RunPosition): boolean =>
  run.settings.context.strategy === 'head_tail' && turnCount(summarizable(state)) > run.settings.context.max_turns;

/** Iterations. */
const longestBackoff = 16;

/** After each failure in a row, the next compaction is tried twice as many iterations later. */
function isBackingOff({ context: { failures, compactedIn }, ...state }: RunState): boolean {
  return failures > 0 && iterationsDone(state) - compactedIn < Math.min(2 ** failures, longestBackoff);
}

const summarizable = ({ conversation, context }: RunState): SummarizableConversation => ({
  conversation,
  summarized: findRange(conversation, context.summary?.covers),
});

async function chooseRange(
  { run, state, meter }: MeteredRun,
  { budget }: ContextUsage,
  reason: CompactionReason,
): Promise<MessageRange | undefined> {
  const { strategy, max_turns: maxTurns, keep_first: keepFirst } = run.settings.context;
  const whole = summarizable(state);
  if (strategy === 'head_tail') return rangeBetween(whole, { maxTurns, keepFirst });

  const start = (whole.summarized?.last ?? -1) + 1;
  const tokens = await meter.ofMessages(state.conversation.slice(start));
  return rangeBeforeTail(whole, {
    tailTokens: reason === 'requested' ? 0 : tailTokens(budget),
    countTokens: ({ first, last }) =>
      tokens.slice(first - start, last - start + 1).reduce((sum, count) => sum + count, 0),
  });
}
