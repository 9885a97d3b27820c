import type { NewMessage, RunId } from '@rondo/contract';
import type { ContextState } from './context-state';
import { hasImage, keepNewestImages } from './newest-images';
import { type Conversation, type MessageRange, newestUserPosition, positionOf, rangeOf, within } from './message-range';
import type { Sent } from './sent-message';
import { shortened } from './shortened';
import { withoutReasoning } from './without-reasoning';

/** Who the context is made for. */
export interface ContextReader {
  readonly runId: RunId;
  readonly model: string;
  readonly keepImages: number;
}

/**
 * What is sent of a conversation. The whole of it, but for three things that the context's facts say:
 *
 * - The latest summary stands at the place of the messages that it covers. Earlier ones are folded into it.
 * - Texts up to a point may be shortened, and a stretch may be left out, with a word on how to read it.
 * - Of the images, the newest stay.
 *
 * The newest words of the user are always there, unchanged. It depends on nothing but its arguments, and until the next
 * of these facts it only grows at its end, so that a provider's prompt cache hits.
 */
export function contextOf(conversation: Conversation, context: ContextState, reader: ContextReader): Sent[] {
  const folded = withoutFolded(conversation, context);
  const shorter = shortenedUpTo(conversation, context, folded);
  const { sent, changedAt } = keepNewestImages(shorter, reader.keepImages);
  return keepOwnThoughts(sent, reader, Math.max(changedAt, positionOf(conversation, context.changedAt)));
}

/**
 * What is sent of `more`, which follows a conversation that was sent under the same context; undefined where it changes
 * what is sent of that: a summary stands for it, and an image may push an older one out.
 */
export function contextOfMore(more: readonly Sent[], reader: ContextReader): Sent[] | undefined {
  const changesThePast = more.some(({ message }) => message.type === 'summary' || message.content.some(hasImage));
  return changesThePast ? undefined : keepOwnThoughts(more, reader, -1);
}

/** A stretch, what stands for it, and the one message in it that is sent all the same. */
interface Fold {
  readonly stretch: MessageRange;
  readonly standIn: NewMessage;
  readonly keptPlace: number;
}

function withoutFolded(conversation: Conversation, context: ContextState): Sent[] {
  const folds = [summaryFold(conversation, context), omission(conversation, context)].filter((fold) => !!fold);
  const sent: Sent[] = [];

  conversation.forEach((message, at) => {
    const begins = folds.find(({ stretch }) => stretch.first === at);
    if (begins) sent.push({ message: begins.standIn, at });
    if (message.type === 'summary') return;
    const inside = folds.find(({ stretch }) => within(stretch, at));
    if (!inside || inside.keptPlace === at) sent.push({ message, at });
  });
  return sent;
}

/** What was the newest message of the user when the summary was made stays, so that no later one changes the past. */
function summaryFold(conversation: Conversation, { summary }: ContextState): Fold | undefined {
  const place = positionOf(conversation, summary?.id);
  const standIn = conversation[place];
  const stretch = rangeOf(conversation, summary?.covers);
  return standIn && stretch && { stretch, standIn, keptPlace: newestUserPosition(conversation, place) };
}

function omission(conversation: Conversation, { compression }: ContextState): Fold | undefined {
  const stretch = rangeOf(conversation, compression?.omitted);
  const first = stretch && conversation[stretch.first];
  const last = stretch && conversation[stretch.last];
  if (!first || !last) return undefined;

  const count = stretch.last - stretch.first + 1;
  const text = `[${count} messages are left out here, from ${first.id} to ${last.id}. expand_message("msg_…") shows one of them.]`;
  const standIn: NewMessage = { ...first, type: 'user', content: [{ type: 'text', text }] };
  return {
    stretch,
    standIn,
    keptPlace: newestUserPosition(conversation, positionOf(conversation, compression?.through) + 1),
  };
}

/** How much longer than a tool's result other texts may stay: results go first, and the newest of them last. */
const times = { result: 1, user: 2, reply: 4, newestResult: 4, summary: 16 };

function shortenedUpTo(
  conversation: Conversation,
  { compression }: ContextState,
  sent: readonly Sent[],
): readonly Sent[] {
  const through = positionOf(conversation, compression?.through);
  if (!compression || through < 0) return sent;

  const newestUser = newestUserPosition(conversation, through + 1);
  const newestReply = sent.findLast(({ message, at }) => message.type === 'assistant' && at <= through)?.at ?? -1;
  return sent.map((one) => {
    const { message, at } = one;
    if (at > through || at === newestUser) return one;
    const keep = compression.keepCharacters * factorOf(message, at > newestReply);
    return changed(one, shortened(message, keep));
  });
}

function factorOf({ type }: NewMessage, isNewest: boolean): number {
  if (type === 'tool') return isNewest ? times.newestResult : times.result;
  if (type === 'summary') return times.summary;
  return type === 'assistant' ? times.reply : times.user;
}

/**
 * A signed thought is bound to everything before it, and to its model: what was thought before the context changed, by
 * another model, or in another run, is not sent.
 */
const keepOwnThoughts = (sent: readonly Sent[], { runId, model }: ContextReader, changedAt: number): Sent[] =>
  sent.map((one) => {
    const { message, at } = one;
    if (message.type !== 'assistant') return one;
    const isOwn = at > changedAt && message.run_id === runId && message.metadata['model'] === model;
    return isOwn ? one : changed(one, withoutReasoning(message));
  });

const changed = (one: Sent, message: NewMessage): Sent => (message === one.message ? one : { message, at: one.at });
