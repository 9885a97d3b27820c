import { type ThreadId, threadId } from '@rondo/domain';
import type { Msg } from 'nats';
import { z } from 'zod';
import type { NatsLink } from '../nats/nats-link';
import { received } from '../nats/received';
import { askExecutor } from './ask-executor';

const forgetRequest = z.object({ thread_id: threadId });
const forgetAnswer = z.object({ gone: z.boolean() });

/**
 * Has an executor remove a thread's sandbox with its files. True once they are gone, also where they never were; false
 * where nobody listens, it failed, or it takes longer than one waits. Asking again is always safe.
 */
export async function askToForget(nats: NatsLink, executorId: string, thread: ThreadId): Promise<boolean> {
  if (!nats.connected) return false;
  try {
    const answer = await askExecutor(nats, nats.names.sandboxForget(executorId), { thread_id: thread });
    return received(forgetAnswer, answer, nats.log)?.gone ?? false;
  } catch {
    return false; // Nobody listens, or none that answers in time: who wants it gone asks again.
  }
}

/** The executor's end: `forget` resolves when nothing of the thread is left. Returns what ends the listening. */
export function answerForgetting(
  nats: NatsLink,
  executorId: string,
  forget: (thread: ThreadId) => Promise<void>,
): () => void {
  const answer = async (message: Msg): Promise<void> => {
    const request = received(forgetRequest, message, nats.log);
    if (!request) return;

    const gone = await forget(request.thread_id).then(
      () => true,
      (error: unknown) => {
        nats.log.warn({ executorId, threadId: request.thread_id, error }, 'sandbox could not be removed');
        return false;
      },
    );
    message.respond(JSON.stringify({ gone }));
  };
  const subject = nats.names.sandboxForget(executorId);
  const subscription = nats.connection.subscribe(subject, {
    callback: (error, message) => {
      if (error) nats.log.error({ executorId, subject, error }, 'sandbox subscription ended');
      else void answer(message);
    },
  });
  return () => subscription.unsubscribe();
}
