import type { CallId, NewMessage } from '@rondo/contract';

/** Messages that only make sense together, by their places in the conversation, first and last included. */
export interface Turn {
  readonly first: number;
  readonly last: number;
}

/**
 * A conversation in turns: what a person said, or a reply with the results of its calls. Between two turns it may be cut
 * (W33); within one never, so no call loses its result and no reply its other parts. Summaries belong to no turn.
 */
export function turnsOf(conversation: readonly NewMessage[]): Turn[] {
  const answeredAt = resultPlaces(conversation);
  const turns: Turn[] = [];
  let closesAt = -1;

  conversation.forEach((message, at) => {
    if (message.type === 'summary') return;
    const current = turns.at(-1);
    if (current && (at <= closesAt || isSameReply(conversation[current.last], message))) {
      turns[turns.length - 1] = { first: current.first, last: at };
    } else turns.push({ first: at, last: at });
    for (const id of callsIn(message)) closesAt = Math.max(closesAt, answeredAt.get(id) ?? -1);
  });
  return turns;
}

/** A reply that is stored in parts, and the results that belong to it, have one iteration in common. */
const isSameReply = (before: NewMessage | undefined, message: NewMessage): boolean =>
  before !== undefined &&
  before.type !== 'user' &&
  message.type !== 'user' &&
  message.iteration !== null &&
  message.iteration === before.iteration &&
  message.run_id === before.run_id;

function resultPlaces(conversation: readonly NewMessage[]): Map<CallId, number> {
  const places = new Map<CallId, number>();
  conversation.forEach(({ content }, at) => {
    for (const block of content) {
      if (block.type === 'tool_result' && !places.has(block.tool_call_id)) places.set(block.tool_call_id, at);
    }
  });
  return places;
}

const callsIn = ({ content }: NewMessage): CallId[] =>
  content.flatMap((block) => (block.type === 'tool_call' ? [block.tool_call_id] : []));
