import type { CallId, NewMessage } from '@rondo/contract';
import type { MessageRange } from './message-range';

/**
 * Divides a conversation into turns: a user message, or a reply with the results of its calls. A conversation may be cut
 * between two turns but never within one, so that no call loses its result and no reply one of its parts. Summaries
 * belong to no turn.
 */
export function listTurns(conversation: readonly NewMessage[]): MessageRange[] {
  const resultIndexes = listResultIndexes(conversation);
  const turns: MessageRange[] = [];
  let closesAt = -1;

  conversation.forEach((message, index) => {
    if (message.type === 'summary') return;
    const current = turns.at(-1);
    if (current && (index <= closesAt || isSameReply(conversation[current.last], message))) {
      turns[turns.length - 1] = { first: current.first, last: index };
    } else turns.push({ first: index, last: index });
    for (const id of callsIn(message)) closesAt = Math.max(closesAt, resultIndexes.get(id) ?? -1);
  });
  return turns;
}

/** The parts of a reply that is stored in parts, and the results of its calls, have the same iteration. */
const isSameReply = (before: NewMessage | undefined, message: NewMessage): boolean =>
  before !== undefined &&
  before.type !== 'user' &&
  message.type !== 'user' &&
  message.iteration !== null &&
  message.iteration === before.iteration &&
  message.run_id === before.run_id;

function listResultIndexes(conversation: readonly NewMessage[]): Map<CallId, number> {
  const indexes = new Map<CallId, number>();
  conversation.forEach(({ content }, index) => {
    for (const block of content) {
      if (block.type === 'tool_result' && !indexes.has(block.tool_call_id)) indexes.set(block.tool_call_id, index);
    }
  });
  return indexes;
}

const callsIn = ({ content }: NewMessage): CallId[] =>
  content.flatMap((block) => (block.type === 'tool_call' ? [block.tool_call_id] : []));
