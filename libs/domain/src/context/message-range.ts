import type { Coverage, MessageId, NewMessage } from '@rondo/contract';

export type Conversation = readonly NewMessage[];

/** A message as the model receives it, and the index of the stored message that it stands for. */
export interface SentMessage {
  readonly message: NewMessage;
  readonly index: number;
}

/** Consecutive messages by their indexes in a conversation, first and last included. */
export interface MessageRange {
  readonly first: number;
  readonly last: number;
}

/** The index of a message; -1 without an id, and for a message that is not in the conversation. */
export const indexOf = (conversation: Conversation, id: MessageId | undefined): number =>
  id === undefined ? -1 : conversation.findLastIndex((message) => message.id === id);

/** The range that a coverage names. Undefined where one of its ends is missing, so that no other message counts as covered. */
export function findRange(conversation: Conversation, covers: Coverage | undefined): MessageRange | undefined {
  if (!covers) return undefined;
  const first = indexOf(conversation, covers.from_message_id);
  const last = indexOf(conversation, covers.to_message_id);
  return first >= 0 && last >= first ? { first, last } : undefined;
}

/** The newest user message among the first `count` messages; -1 where there is none. */
export function findNewestUserIndex(conversation: Conversation, count = conversation.length): number {
  for (let index = Math.min(count, conversation.length) - 1; index >= 0; index--)
    if (conversation[index]?.type === 'user') return index;
  return -1;
}

export const within = (range: MessageRange | undefined, index: number): boolean =>
  range !== undefined && index >= range.first && index <= range.last;

export function findCoverage(conversation: Conversation, { first, last }: MessageRange): Coverage | undefined {
  const from = conversation[first];
  const to = conversation[last];
  return from && to && { from_message_id: from.id, to_message_id: to.id };
}
