import type { Coverage, MessageId, NewMessage } from '@rondo/contract';

export type Conversation = readonly NewMessage[];

/** A stretch of a conversation by its places, first and last included. */
export interface MessageRange {
  readonly first: number;
  readonly last: number;
}

/** Where a message stands; -1 for none, and for one that is not there. */
export const positionOf = (conversation: Conversation, id: MessageId | undefined): number =>
  id === undefined ? -1 : conversation.findLastIndex((message) => message.id === id);

/** Where a coverage lies; undefined where one of its ends is not there, so that nothing is taken for covered by mistake. */
export function rangeOf(conversation: Conversation, covers: Coverage | undefined): MessageRange | undefined {
  if (!covers) return undefined;
  const first = positionOf(conversation, covers.from_message_id);
  const last = positionOf(conversation, covers.to_message_id);
  return first >= 0 && last >= first ? { first, last } : undefined;
}

/** The newest words of the user among the first `count` messages; -1 where there are none. */
export function newestUserPosition(conversation: Conversation, count = conversation.length): number {
  for (let at = Math.min(count, conversation.length) - 1; at >= 0; at--)
    if (conversation[at]?.type === 'user') return at;
  return -1;
}

export const within = (stretch: MessageRange | undefined, at: number): boolean =>
  stretch !== undefined && at >= stretch.first && at <= stretch.last;

export function coverageOf(conversation: Conversation, { first, last }: MessageRange): Coverage | undefined {
  const from = conversation[first];
  const to = conversation[last];
  return from && to && { from_message_id: from.id, to_message_id: to.id };
}
