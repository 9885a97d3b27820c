import { type RunId, type ThreadId, callId, runId, threadId } from '@rondo/contract';
import type { StoppedTool } from '@rondo/domain';
import { type Msg, headers } from 'nats';
import { z } from 'zod';
import type { NatsLink } from '../connection/nats-link';
import { readReceived } from '../connection/received';
import { executorId } from '../connection/signals';

/*
 * What a worker asks of an executor, besides tool calls: to end what a run has left running, to remove a thread's sandbox, and
 * to host the workspace of a thread whose executor is lost. Each request has two ends, `request…` in the worker and `answer…`
 * in the executor.
 */

export const endRequest = z.object({ thread_id: threadId, run_id: runId });
export const endAnswer = z.object({
  /** Null where not every process was confirmed dead. */
  ended: z
    .array(
      z.object({
        tool_call_id: callId,
        verified_dead_at: z.iso.datetime(),
        processes: z.array(z.string().max(100)).max(100),
      }),
    )
    .nullable(),
});

export const removalRequest = z.object({ thread_id: threadId });
export const removalAnswer = z.object({ gone: z.boolean() });

export const adoptionRequest = z.object({ thread_id: threadId, from: executorId });
/** `restoring`: the request has to be repeated. `failed`: the copy of the files is there, or may be, and cannot be had now. */
export const adoptionAnswer = z.object({ state: z.enum(['adopted', 'restoring', 'failed']) });
export type AdoptionState = z.infer<typeof adoptionAnswer>['state'];

/** A thread, and the lost executor that its workspace was on. */
export interface Adoption {
  readonly threadId: ThreadId;
  readonly from: string;
}

export interface RunInSandbox {
  readonly threadId: ThreadId;
  readonly runId: RunId;
}

const usualTimeoutMs = 2_000;

/**
 * Has an executor end what a run's calls have left running in the thread's sandbox. Undefined where no executor listens,
 * a process was not confirmed dead, or the answer takes too long. Repeating the request is always safe.
 */
export async function requestRunEnd(
  nats: NatsLink,
  executorId: string,
  { threadId, runId, timeoutMs = usualTimeoutMs }: RunInSandbox & { readonly timeoutMs?: number },
): Promise<readonly StoppedTool[] | undefined> {
  const body = { thread_id: threadId, run_id: runId };
  const options = { body, answer: endAnswer, timeoutMs: Math.max(1, timeoutMs) };
  const answer = await request(nats, nats.names.sandboxEnd(executorId), options);
  return answer?.ended ?? undefined;
}

/** `end` resolves once every process is confirmed dead. Returns a function that ends the subscription. */
export function answerRunEnds(
  nats: NatsLink,
  executorId: string,
  end: (run: RunInSandbox) => Promise<readonly StoppedTool[]>,
): () => void {
  return answerRequests(nats, nats.names.sandboxEnd(executorId), {
    body: endRequest,
    work: async ({ thread_id: threadId, run_id: runId }) => {
      const ended = await end({ threadId, runId }).catch((error: unknown) => {
        nats.log.warn({ executorId, threadId, runId, error }, 'what a run left running could not be ended');
        return null;
      });
      return { ended };
    },
  });
}

/**
 * Has an executor remove a thread's sandbox with its files. True once they are gone, or if they never existed; false
 * where no executor listens, the removal failed, or it takes too long. Repeating the request is always safe.
 */
export async function requestRemoval(nats: NatsLink, executorId: string, thread: ThreadId): Promise<boolean> {
  const body = { thread_id: thread };
  const answer = await request(nats, nats.names.sandboxForget(executorId), { body, answer: removalAnswer });
  return answer?.gone ?? false;
}

/** `remove` resolves when nothing of the thread is left. Returns a function that ends the subscription. */
export function answerRemovals(
  nats: NatsLink,
  executorId: string,
  remove: (thread: ThreadId) => Promise<void>,
): () => void {
  return answerRequests(nats, nats.names.sandboxForget(executorId), {
    body: removalRequest,
    work: async ({ thread_id: threadId }) => {
      const gone = await remove(threadId).then(
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

/**
 * Has an executor restore the last copy of a workspace that was on a lost executor. Undefined where no executor listens or the
 * answer takes too long. Repeating the request is always safe.
 */
export async function requestAdoption(
  nats: NatsLink,
  executorId: string,
  { threadId, from }: Adoption,
): Promise<AdoptionState | undefined> {
  const body = { thread_id: threadId, from };
  const answer = await request(nats, nats.names.sandboxAdopt(executorId), { body, answer: adoptionAnswer });
  return answer?.state;
}

/** Returns a function that ends the subscription. */
export function answerAdoptions(
  nats: NatsLink,
  executor: string,
  adopt: (adoption: Adoption) => Promise<AdoptionState>,
): () => void {
  return answerRequests(nats, nats.names.sandboxAdopt(executor), {
    body: adoptionRequest,
    work: async ({ thread_id: threadId, from }) => ({ state: await adopt({ threadId, from }) }),
  });
}

/**
 * Each request has a reply inbox of its own: the executor learns it, and could answer in place of NATS over the inbox that
 * requests to JetStream share. Undefined where no valid answer comes in time.
 */
export async function request<Answer extends z.ZodType>(
  nats: NatsLink,
  subject: string,
  { body, answer, timeoutMs = usualTimeoutMs }: { body: object; answer: Answer; timeoutMs?: number },
): Promise<z.infer<Answer> | undefined> {
  if (!nats.connected) return undefined;
  try {
    const options = { timeout: timeoutMs, noMux: true, reply: nats.newInbox() };
    return readReceived(answer, await nats.connection.request(subject, JSON.stringify(body), options), nats.log);
  } catch {
    return undefined; // No executor listens there, or it did not answer in time: the caller decides whether to repeat.
  }
}

/** In the form in which NATS says that no one listens: who asks need not wait until its time is over. */
const noAnswer = headers(503, 'No Answer');

/** `work` also gets the executor's id, the last token of each of these subjects. The server checks who may publish on it. */
export function answerRequests<Body extends z.ZodType>(
  nats: NatsLink,
  subject: string,
  {
    body,
    work,
    queue,
  }: { body: Body; work: (request: z.infer<Body>, executorId: string) => Promise<object>; queue?: string },
): () => void {
  const answer = async (message: Msg): Promise<void> => {
    const parsed = readReceived(body, message, nats.log);
    if (!parsed) return;
    try {
      message.respond(JSON.stringify(await work(parsed, readLastToken(message.subject))));
    } catch (error) {
      nats.log.warn({ subject, error }, 'sandbox request failed');
      if (nats.connected) message.respond(undefined, { headers: noAnswer }); // the requester may repeat it
    }
  };
  const subscription = nats.connection.subscribe(subject, {
    ...(queue !== undefined && { queue }),
    callback: (error, message) => {
      if (error) nats.log.error({ subject, error }, 'sandbox subscription ended');
      else void answer(message);
    },
  });
  return () => subscription.unsubscribe();
}

const readLastToken = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1);
