import type { Conversation, MessageRange } from '../context/message-range';
import { listTurns } from '../context/turns';

/** A conversation and the range of it that a summary covers already. */
export interface SummarizableConversation {
  readonly conversation: Conversation;
  readonly summarized: MessageRange | undefined;
}

/** A summary of fewer new messages is not worth its cost. */
const fewestMessages = 3;

/**
 * The strategy `summary`: everything but the recent tail, which has at most `tailTokens` and at least the last turn. The
 * range starts with what is summarized already, so that no messages are left between two summaries.
 */
export function rangeBeforeTail(
  { conversation, summarized }: SummarizableConversation,
  { tailTokens, countTokens }: { tailTokens: number; countTokens: (turn: MessageRange) => number },
): MessageRange | undefined {
  const turns = listTurns(conversation).filter(({ first }) => first > (summarized?.last ?? -1));
  let tail = turns.length - 1;
  let tokens = tail >= 0 ? countTokens(turnAt(turns, tail)) : 0;
  while (tail > 0 && tokens + countTokens(turnAt(turns, tail - 1)) <= tailTokens) {
    tail -= 1;
    tokens += countTokens(turnAt(turns, tail));
  }
  return worthwhileRange(turns.slice(0, Math.max(0, tail)), summarized);
}

/** The strategy `head_tail`: everything between some turns at the beginning and some at the end. */
export function rangeBetween(
  { conversation, summarized }: SummarizableConversation,
  { maxTurns, keepFirst }: { maxTurns: number; keepFirst: number },
): MessageRange | undefined {
  const turns = listTurns(conversation);
  const before = turns.filter(({ first }) => first < (summarized?.first ?? Infinity));
  const after = turns.filter(({ first }) => summarized !== undefined && first > summarized.last);
  const sequence: readonly MessageRange[] = summarized ? [...before, summarized, ...after] : before;

  const head = Math.min(keepFirst, summarized ? before.length : keepFirst);
  const { middle } = segments({ turns: sequence.length, maxTurns, head });
  const first = sequence[head];
  const last = sequence[head + middle - 1];
  return middle > 1 && first && last ? { first: first.first, last: last.last } : undefined;
}

/**
 * How `head_tail` divides its turns: at most half of the allowed number is left, including the head and the summary, which
 * counts as a turn.
 */
export function segments({ turns, maxTurns, head }: { turns: number; maxTurns: number; head: number }) {
  const target = Math.floor(Math.min(maxTurns, turns) / 2);
  const tail = Math.max(0, target - head - 1);
  const middle = Math.max(0, turns - head - tail);
  return { tail, middle, left: turns - middle + Math.min(1, middle) };
}

/** The number of turns as `head_tail` counts them, the summary included. */
export const turnCount = ({ conversation, summarized }: SummarizableConversation): number =>
  listTurns(conversation).filter(
    ({ first }) => first < (summarized?.first ?? Infinity) || first > (summarized?.last ?? Infinity),
  ).length + (summarized ? 1 : 0);

function worthwhileRange(
  turns: readonly MessageRange[],
  summarized: MessageRange | undefined,
): MessageRange | undefined {
  const first = turns[0];
  const last = turns.at(-1);
  const messages = turns.reduce((sum, turn) => sum + turn.last - turn.first + 1, 0);
  if (!first || !last || messages < fewestMessages) return undefined;
  return { first: summarized?.first ?? first.first, last: last.last };
}

const turnAt = (turns: readonly MessageRange[], index: number): MessageRange => turns[index] ?? { first: 0, last: -1 };
