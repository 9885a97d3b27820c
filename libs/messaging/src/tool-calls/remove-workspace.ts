import { type ThreadId, threadId } from '@rondo/contract';
import { z } from 'zod';
import type { NatsLink } from '../connection/nats-link';
import { answerRequests, askExecutor } from './executor-requests';

export const forgetRequest = z.object({ thread_id: threadId });
export const forgetAnswer = z.object({ gone: z.boolean() });

/**
 * Has an executor remove a thread's sandbox with its files. True once they are gone, also where they never were; false
 * where nobody listens, it failed, or it takes longer than one waits. Asking again is always safe.
 */
export async function requestRemoval(nats: NatsLink, executorId: string, thread: ThreadId): Promise<boolean> {
  const request = { thread_id: thread };
  const answer = await askExecutor(nats, nats.names.sandboxForget(executorId), { request, answer: forgetAnswer });
  return answer?.gone ?? false;
}

/** The executor's end: `forget` resolves when nothing of the thread is left. Returns what ends the listening. */
export function answerRemovals(
  nats: NatsLink,
  executorId: string,
  forget: (thread: ThreadId) => Promise<void>,
): () => void {
  return answerRequests(nats, nats.names.sandboxForget(executorId), {
    request: forgetRequest,
    work: async ({ thread_id: threadId }) => {
      const gone = await forget(threadId).then(
        () => true,
        (error: unknown) => {
          nats.log.warn({ executorId, threadId, error }, 'sandbox could not be removed');
          return false;
        },
      );
      return { gone };
    },
  });
}
