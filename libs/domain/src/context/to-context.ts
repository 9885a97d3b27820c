import type { NewMessage, RunId } from '@rondo/contract';
import type { ContextState } from '../run/context-state';
import {
  type Conversation,
  type MessageRange,
  type SentMessage,
  indexOf,
  findNewestUserIndex,
  findRange,
  within,
} from './message-range';
import {
  hasImage,
  imageCount,
  shortened,
  withNewestImages,
  withoutBoundReasoning,
  withoutReasoning,
} from './reduce-message';

/** The run and model that a context is built for. */
export interface ContextReader {
  /** Undefined: a run that does not exist yet. */
  readonly runId: RunId | undefined;
  readonly model: string;
  readonly keepImages: number;
}

/**
 * The messages of a conversation that the model receives: all of them, but for three reductions that the log's facts
 * describe.
 *
 * - The latest summary replaces the messages that it covers. It includes earlier summaries.
 * - Texts up to a message may be shortened, and a range may be omitted, with a hint how to read them.
 * - Of the images, only the newest are sent; older ones leave several at a time.
 *
 * The newest user message is always sent unchanged. The result depends on the arguments alone, and until the next of
 * these facts it only grows at its end, so that a provider's prompt cache hits.
 */
export function toContext(conversation: Conversation, context: ContextState, reader: ContextReader): SentMessage[] {
  const reduced = applyReplacements(conversation, context);
  const shorter = applyCompression(conversation, context, reduced);
  const { sent, changedAt } = keepNewestImages(shorter, reader.keepImages);
  return keepOwnReasoning(sent, reader, Math.max(changedAt, indexOf(conversation, context.changedAt)));
}

/**
 * What is sent of `more`, which follows a conversation that was sent under the same context. Undefined where it changes
 * what was sent: a summary replaces older messages, and an image may displace an older image.
 */
export function contextOfMore(more: readonly SentMessage[], reader: ContextReader): SentMessage[] | undefined {
  const changesEarlier = more.some(({ message }) => message.type === 'summary' || message.content.some(hasImage));
  return changesEarlier ? undefined : keepOwnReasoning(more, reader, -1);
}

/** A range, the message that is sent in its place, and the one message in it that is sent nevertheless. */
interface Replacement {
  readonly range: MessageRange;
  readonly message: NewMessage;
  readonly keptIndex: number;
}

function applyReplacements(conversation: Conversation, context: ContextState): SentMessage[] {
  const replacements = [findSummary(conversation, context), findOmission(conversation, context)].filter((one) => !!one);
  const sent: SentMessage[] = [];

  conversation.forEach((message, index) => {
    const starting = replacements.find(({ range }) => range.first === index);
    if (starting) sent.push({ message: starting.message, index });
    if (message.type === 'summary') return;
    const inside = replacements.find(({ range }) => within(range, index));
    if (!inside || inside.keptIndex === index) sent.push({ message, index });
  });
  return sent;
}

/** Keeps what was the newest user message when the summary was made, so that later user messages change nothing earlier. */
function findSummary(conversation: Conversation, { summary }: ContextState): Replacement | undefined {
  const index = indexOf(conversation, summary?.id);
  const message = conversation[index];
  const range = findRange(conversation, summary?.covers);
  return message && range && { range, message, keptIndex: findNewestUserIndex(conversation, index) };
}

function findOmission(conversation: Conversation, { compression }: ContextState): Replacement | undefined {
  const range = findRange(conversation, compression?.omitted);
  const first = range && conversation[range.first];
  const last = range && conversation[range.last];
  if (!first || !last) return undefined;

  const count = range.last - range.first + 1;
  const text = `[${count} messages are left out here, from ${first.id} to ${last.id}. expand_message("msg_…") shows one of them.]`;
  const message: NewMessage = { ...first, type: 'user', content: [{ type: 'text', text }] };
  return {
    range,
    message,
    keptIndex: findNewestUserIndex(conversation, indexOf(conversation, compression?.through) + 1),
  };
}

/** How much longer than an old tool result other texts may stay: old results are shortened first, the newest last. */
const lengthFactors = { result: 1, user: 2, reply: 4, newestResult: 4, summary: 16 };

function applyCompression(
  conversation: Conversation,
  { compression }: ContextState,
  sent: readonly SentMessage[],
): readonly SentMessage[] {
  const through = indexOf(conversation, compression?.through);
  if (!compression || through < 0) return sent;

  const newestUser = findNewestUserIndex(conversation, through + 1);
  const newestReply =
    sent.findLast(({ message, index }) => message.type === 'assistant' && index <= through)?.index ?? -1;
  return sent.map((one) => {
    const { message, index } = one;
    if (index > through || index === newestUser) return one;
    const keep = compression.keepCharacters * computeLengthFactor(message, index > newestReply);
    return replaceMessage(one, shortened(message, keep));
  });
}

function computeLengthFactor({ type }: NewMessage, isNewest: boolean): number {
  if (type === 'tool') return isNewest ? lengthFactors.newestResult : lengthFactors.result;
  if (type === 'summary') return lengthFactors.summary;
  return type === 'assistant' ? lengthFactors.reply : lengthFactors.user;
}

/** Each time that an image leaves, the provider's cache is lost from there on. */
const countLeavingTogether = (keep: number): number => Math.max(1, Math.min(keep, 3));

/** The most images of a request. */
export const countSentImages = (keep: number): number => keep + countLeavingTogether(keep) - 1;

/**
 * Keeps the newest images, up to two more than it must, and replaces older ones by a note, several at a time. `changedAt` is the
 * index of the newest image that displaced older ones: the context before it is no longer what the model saw. -1 where all
 * images stay.
 */
function keepNewestImages(
  sent: readonly SentMessage[],
  keep: number,
): { sent: readonly SentMessage[]; changedAt: number } {
  const all = sent.reduce((sum, { message }) => sum + imageCount(message), 0);
  const together = countLeavingTogether(keep);
  const gone = all <= keep ? 0 : Math.floor((all - keep) / together) * together;
  if (gone === 0) return { sent, changedAt: -1 };
  let seen = 0;
  let changedAt = -1;
  const reduced = new Map<SentMessage, NewMessage>();
  for (const one of sent) {
    const images = imageCount(one.message);
    if (images > 0 && seen < gone + keep) changedAt = one.index;
    if (images > 0 && seen < gone) reduced.set(one, withNewestImages(one.message, Math.max(0, seen + images - gone)));
    seen += images;
  }
  return { sent: sent.map((one) => replaceMessage(one, reduced.get(one) ?? one.message)), changedAt };
}

/**
 * The reasoning of another model is not sent. Nor is that from before the context changed or from another run, unless its
 * provider wants it back wherever its calls are sent: a signed block is usually bound to everything before it.
 */
const keepOwnReasoning = (
  sent: readonly SentMessage[],
  { runId, model }: ContextReader,
  changedAt: number,
): SentMessage[] =>
  sent.map((one) => {
    const { message, index } = one;
    if (message.type !== 'assistant') return one;
    if (message.metadata['model'] !== model) return replaceMessage(one, withoutReasoning(message));
    const isInPlace = index > changedAt && message.run_id === runId;
    return isInPlace ? one : replaceMessage(one, withoutBoundReasoning(message));
  });

const replaceMessage = (one: SentMessage, message: NewMessage): SentMessage =>
  message === one.message ? one : { message, index: one.index };
