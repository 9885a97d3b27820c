import { type Turn, turnsOf } from '../context/turns';
import type { Conversation, MessageRange } from '../context/message-range';

/** A conversation and the stretch of it that a summary stands for already. */
export interface SummarizableConversation {
  readonly conversation: Conversation;
  readonly folded: MessageRange | undefined;
}

/** Fewer new messages than this are not worth a summary. */
const fewest = 3;

/**
 * The strategy `summary`: everything but the recent tail, which stays as long as it has no more than `tailTokens`, and at
 * least its last turn. What was folded before is folded again together with what follows it, so that nothing is left
 * between two summaries (W29).
 */
export function rangeBeforeTail(
  { conversation, folded }: SummarizableConversation,
  { tailTokens, tokensOf }: { tailTokens: number; tokensOf: (turn: Turn) => number },
): MessageRange | undefined {
  const turns = turnsOf(conversation).filter(({ first }) => first > (folded?.last ?? -1));
  let tail = turns.length - 1;
  let tokens = tail >= 0 ? tokensOf(turnAt(turns, tail)) : 0;
  while (tail > 0 && tokens + tokensOf(turnAt(turns, tail - 1)) <= tailTokens) {
    tail -= 1;
    tokens += tokensOf(turnAt(turns, tail));
  }
  return worthFolding(turns.slice(0, Math.max(0, tail)), folded);
}

/** The strategy `head_tail`: some turns at the beginning stay, some at the end, and the rest is folded. */
export function rangeBetween(
  { conversation, folded }: SummarizableConversation,
  { maxTurns, keepFirst }: { maxTurns: number; keepFirst: number },
): MessageRange | undefined {
  const turns = turnsOf(conversation);
  const before = turns.filter(({ first }) => first < (folded?.first ?? Infinity));
  const after = turns.filter(({ first }) => folded !== undefined && first > folded.last);
  const sequence: readonly MessageRange[] = folded ? [...before, folded, ...after] : before;

  const head = Math.min(keepFirst, folded ? before.length : keepFirst);
  const { forgotten } = segments({ turns: sequence.length, maxTurns, head });
  const first = sequence[head];
  const last = sequence[head + forgotten - 1];
  return forgotten > 1 && first && last ? { first: first.first, last: last.last } : undefined;
}

/**
 * How `head_tail` divides so many turns: at most half of what is allowed is left, the head and one summary among it. A
 * summary counts as a turn.
 */
export function segments({ turns, maxTurns, head }: { turns: number; maxTurns: number; head: number }) {
  const target = Math.floor(Math.min(maxTurns, turns) / 2);
  const tail = Math.max(0, target - head - 1);
  const forgotten = Math.max(0, turns - head - tail);
  return { tail, forgotten, left: turns - forgotten + Math.min(1, forgotten) };
}

/** How many turns `head_tail` sees. */
export const turnCount = ({ conversation, folded }: SummarizableConversation): number =>
  turnsOf(conversation).filter(({ first }) => first < (folded?.first ?? Infinity) || first > (folded?.last ?? Infinity))
    .length + (folded ? 1 : 0);

function worthFolding(turns: readonly Turn[], folded: MessageRange | undefined): MessageRange | undefined {
  const first = turns[0];
  const last = turns.at(-1);
  const messages = turns.reduce((sum, turn) => sum + turn.last - turn.first + 1, 0);
  if (!first || !last || messages < fewest) return undefined;
  return { first: folded?.first ?? first.first, last: last.last };
}

const turnAt = (turns: readonly Turn[], at: number): Turn => turns[at] ?? { first: 0, last: -1 };
