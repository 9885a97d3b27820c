import { type MessageId, callIdAt } from './ids';
import { type Pass, type Step, state, stateTogether } from './pass';
import { promptOf } from './prompt';
import { Reply } from './reply';
import type { NewFact } from './run-event';

/** A crash can have shown at most these many calls of a reply; their ids follow from the message's. */
const callStreamsOfAReply = 16;

/** Asks the model, passes on what it says, and ends with the reply in the log, or with the reason why there is none. */
export async function* think(pass: Pass): AsyncGenerator<Step, void> {
  const messageId = pass.ports.clerk.messageId();
  yield* state(pass, beginning(pass, messageId));

  const reply = new Reply(pass, messageId);
  const { prompt, decoder } = promptOf(pass);
  for await (const chunk of pass.ports.model.stream(prompt, pass.signals.stop)) {
    switch (chunk.type) {
      case 'retried': {
        const { attempt, delayMs, error } = chunk;
        yield* state(pass, {
          type: 'model.retried',
          iteration: pass.state.iteration,
          data: { attempt, delay_ms: delayMs, error },
        });
        break;
      }
      case 'end':
        yield* stateTogether(pass, reply.conclude(chunk, decoder.end()), { hold: true });
        return;
      case 'text':
      case 'reasoning':
      case 'reasoning_end':
      case 'call_start':
      case 'call_arguments':
        for (const piece of decoder.push(chunk)) yield { delta: reply.show(piece) };
    }
  }
}

/** A first attempt starts the iteration; after a crash or a broken reply, what was shown of the last one is withdrawn. */
function beginning({ state: { phase, iteration, messageId: lost } }: Pass, messageId: MessageId): NewFact {
  if (phase !== 'thinking' || !lost) {
    const data = { iteration: iteration + 1, message_id: messageId };
    return { type: 'iteration.started', iteration: iteration + 1, data };
  }
  const calls = Array.from({ length: callStreamsOfAReply }, (_, index) => callIdAt(lost, index));
  const data = { iteration, message_id: messageId, withdrawn_stream_ids: [lost, ...calls] };
  return { type: 'iteration.restarted', iteration, data };
}
