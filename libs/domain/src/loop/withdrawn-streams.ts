import { callIdAt, partIdAt } from '@rondo/contract';
import type { RunState } from '../run/run-state';

/** A crash can have shown at most these many parts and calls of a reply; their ids follow from the reply's (decision 3). */
const streamsOfAReply = 16;

/** The streams of the current reply that may have been shown and will never be stored. */
export function withdrawnStreams({ messageId, calls, conversation }: RunState): string[] {
  if (!messageId) return [];
  const stored = new Set<string>([...conversation.map(({ id }) => id), ...calls.keys()]);
  const indexes = Array.from({ length: streamsOfAReply }, (_, index) => index);
  const shown = [
    ...indexes.map((index) => partIdAt(messageId, index)),
    ...indexes.map((index) => callIdAt(messageId, index)),
  ];
  return shown.filter((id) => !stored.has(id));
}
