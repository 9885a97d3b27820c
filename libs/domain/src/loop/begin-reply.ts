import { type MessageId, type NewFact, callIdAt, partIdAt } from '@rondo/contract';
import type { RunState } from '../run/run-state';
import type { LoopContext } from './loop-context';

/** Starts the next iteration, or a new attempt at the reply of the current one. */
export function beginReply({ state }: LoopContext, messageId: MessageId): NewFact {
  if (state.phase === 'thinking') return restart(state, messageId);
  const iteration = state.iteration + 1;
  return { type: 'iteration.started', iteration, data: { iteration, message_id: messageId } };
}

/** A reply of which a part is stored is not requested again: withdraws what a crash cut off after that part. */
export const withdrawRest = ({ state, ports }: LoopContext): NewFact =>
  restart(state, state.messageId ?? ports.ids.messageId());

const restart = (state: RunState, messageId: MessageId): NewFact => ({
  type: 'iteration.restarted',
  iteration: state.iteration,
  data: { iteration: state.iteration, message_id: messageId, withdrawn_stream_ids: withdrawnStreams(state) },
});

/** The most parts and calls of a reply that a crash can have shown; their ids follow from the id of the reply. */
const maxStreamsOfReply = 16;

/** The streams of the current reply that may have been shown and will never be stored. */
function withdrawnStreams({ messageId, calls, conversation }: RunState): string[] {
  if (!messageId) return [];
  const stored = new Set<string>([...conversation.map(({ id }) => id), ...calls.keys()]);
  const indexes = Array.from({ length: maxStreamsOfReply }, (_, index) => index);
  const shown = [
    ...indexes.map((index) => partIdAt(messageId, index)),
    ...indexes.map((index) => callIdAt(messageId, index)),
  ];
  return shown.filter((id) => !stored.has(id));
}
