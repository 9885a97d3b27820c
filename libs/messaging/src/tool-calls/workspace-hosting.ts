import { type ThreadId, threadId } from '@rondo/contract';
import { z } from 'zod';
import { hostingQueue } from '../connection/permissions';
import type { NatsLink } from '../connection/nats-link';
import { answerRequests, request } from './sandbox-requests';

/** The most threads of one request, so that it is a small message and a short query. */
export const threadsPerRequest = 500;

const threads = z.array(threadId).max(threadsPerRequest);
/** With `before`, the executor also asks which of them it has hosted since before then. */
export const hostingRequest = z.object({ thread_ids: threads, before: z.iso.datetime().exactOptional() });
/** Workers of an older version do not say what was moved, what was hosted before, and when. */
export const hostingAnswer = z.object({
  at: z.iso.datetime().exactOptional(),
  deleted: threads,
  moved: threads.exactOptional(),
  hosted_before: threads.exactOptional(),
});

/** Of the threads that an executor has asked about: those whose workspaces it does not host any more, and for how long the others. */
export interface Hosting {
  /** When this was so, by the database's clock. Absent where the worker that answered does not say. */
  readonly at?: string;
  /** They do not exist. */
  readonly deleted: readonly ThreadId[];
  /** Another executor hosts them. Absent where the worker that answered does not know. */
  readonly moved?: readonly ThreadId[];
  /** It hosts them since before the time that it asked about. Absent where it asked about none. */
  readonly hostedBefore?: readonly ThreadId[];
}

export interface HostingQuestion {
  readonly asked: readonly ThreadId[];
  /** With it, the executor also asks which of them it has hosted since before then. */
  readonly before?: string | undefined;
}

/**
 * Asks any worker which of these threads are not hosted by this executor any more. That it asks says that it is there, so
 * none of those that it still hosts is moved from then on until it is away again. Undefined where no worker answers in time:
 * then nothing is known of any of them.
 */
export async function requestHosting(
  nats: NatsLink,
  executorId: string,
  { asked, before }: HostingQuestion,
): Promise<Hosting | undefined> {
  const body = { thread_ids: asked, ...(before !== undefined && { before }) };
  const answer = await request(nats, nats.names.sandboxThreads(executorId), { body, answer: hostingAnswer });
  if (!answer) return undefined;
  const { at, deleted, moved, hosted_before: hostedBefore } = answer;
  const isAsked = (thread: ThreadId) => asked.includes(thread);
  return {
    ...(at !== undefined && { at }),
    deleted: deleted.filter(isAsked),
    ...(moved && { moved: moved.filter(isAsked) }),
    ...(hostedBefore && { hostedBefore: hostedBefore.filter(isAsked) }),
  };
}

/** `find` gets the executor that asks. A failure is no answer. Returns a function that ends the subscription. */
export function answerHosting(
  nats: NatsLink,
  find: (executorId: string, threads: readonly ThreadId[], before?: string) => Promise<Hosting>,
): () => void {
  return answerRequests(nats, nats.names.sandboxThreads('*'), {
    body: hostingRequest,
    queue: hostingQueue,
    work: async ({ thread_ids: asked, before }, executorId) => {
      const { hostedBefore, ...hosting } = await find(executorId, asked, before);
      return { ...hosting, ...(hostedBefore && { hosted_before: hostedBefore }) };
    },
  });
}
