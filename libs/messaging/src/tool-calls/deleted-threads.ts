import { type ThreadId, threadId } from '@rondo/contract';
import { z } from 'zod';
import type { NatsLink } from '../connection/nats-link';
import { deletedThreadsQueue } from '../connection/permissions';
import { answerRequests, request } from './sandbox-requests';

/** Of one request, so that it is a small message and a short query. */
export const threadsPerRequest = 500;

export const deletedThreadsRequest = z.object({ thread_ids: z.array(threadId).max(threadsPerRequest) });
export const deletedThreadsAnswer = z.object({ deleted: z.array(threadId).max(threadsPerRequest) });

/**
 * Asks any worker which of these threads do not exist, so that their sandboxes can be removed where the request to remove them
 * was lost. Undefined where no worker answers in time: then nothing is known of any of them.
 */
export async function requestDeletedThreads(
  nats: NatsLink,
  executorId: string,
  threads: readonly ThreadId[],
): Promise<readonly ThreadId[] | undefined> {
  const body = { thread_ids: threads };
  const answer = await request(nats, nats.names.sandboxThreads(executorId), { body, answer: deletedThreadsAnswer });
  return answer?.deleted.filter((thread) => threads.includes(thread));
}

/** `find` resolves to those that do not exist. A failure is no answer. Returns a function that ends the subscription. */
export function answerDeletedThreads(
  nats: NatsLink,
  find: (threads: readonly ThreadId[]) => Promise<readonly ThreadId[]>,
): () => void {
  return answerRequests(nats, nats.names.sandboxThreads('*'), {
    body: deletedThreadsRequest,
    queue: deletedThreadsQueue,
    work: async ({ thread_ids: threads }) => ({ deleted: await find(threads) }),
  });
}
