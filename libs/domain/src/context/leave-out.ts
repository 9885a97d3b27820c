import type { Coverage } from '@rondo/contract';
import { type RunPosition, frameText } from '../loop/prompt';
import type { ContextMeter } from './context-meter';
import type { Compression } from './context-state';
import { turnsOf } from './turns';
import { type Conversation, type MessageRange, coverageOf, newestUserPosition, rangeOf } from './message-range';
import { selectionOf } from './selection';

/**
 * The last resort (SM10): the turns between the beginning (or the summary) and those newest ones that fit the target once
 * their texts are cut. The last turn stays.
 */
export async function leaveOut(
  { run, state }: RunPosition,
  meter: ContextMeter,
  { compression, target }: { compression: Compression; target: number },
): Promise<Coverage | undefined> {
  const { conversation, context } = state;
  const weights = await weightsByPlace({ run, state: { ...state, context: { ...context, compression } } }, meter);
  const turns = turnsThatMayGo(conversation, rangeOf(conversation, context.summary?.covers));
  const begins = turns[0]?.first ?? conversation.length;
  const newestUser = newestUserPosition(conversation);

  const stays = [...weights.slice(0, begins), newestUser >= begins ? (weights[newestUser] ?? 0) : 0];
  let left = target - (await meter.ofFrame(frameText(run))) - sum(stays);
  let goes = turns.length;
  for (; goes > 0; goes--) {
    left -= weightOf(weights, turns[goes - 1]);
    if (left < 0) break;
  }
  const last = turns[Math.min(goes, turns.length - 1) - 1];
  return last && coverageOf(conversation, { first: begins, last: last.last });
}

async function weightsByPlace(standing: RunPosition, meter: ContextMeter): Promise<number[]> {
  const { sent, messages } = selectionOf(standing.run, standing.state);
  const counts = await meter.ofMessages(messages);
  const weights = standing.state.conversation.map(() => 0);
  sent.forEach(({ at }, index) => (weights[at] = (weights[at] ?? 0) + (counts[index] ?? 0)));
  return weights;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const weightOf = (weights: readonly number[], turn: MessageRange | undefined): number =>
  turn ? sum(weights.slice(turn.first, turn.last + 1)) : 0;

/** The first turn says what it is all about, unless a summary does. */
function turnsThatMayGo(conversation: Conversation, folded: MessageRange | undefined): MessageRange[] {
  const turns = turnsOf(conversation);
  return folded ? turns.filter(({ first }) => first > folded.last) : turns.slice(1);
}
