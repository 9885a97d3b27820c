import { type RunId, type ThreadId, callId, runId, threadId } from '@rondo/contract';
import type { StoppedTool } from '@rondo/domain';
import { z } from 'zod';
import type { NatsLink } from '../connection/nats-link';
import { answerRequests, askExecutor } from './executor-requests';

export const endRequest = z.object({ thread_id: threadId, run_id: runId });
export const endAnswer = z.object({
  /** Null where not all of it could be seen dead. */
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

export interface RunInSandbox {
  readonly threadId: ThreadId;
  readonly runId: RunId;
}

/**
 * Has an executor end what a run's calls have left running in the thread's sandbox. Undefined where no executor listens,
 * something could not be seen dead, or the answer takes too long. Asking again is always safe.
 */
export async function requestRunEnd(
  nats: NatsLink,
  executorId: string,
  { threadId, runId }: RunInSandbox,
): Promise<readonly StoppedTool[] | undefined> {
  const request = { thread_id: threadId, run_id: runId };
  const answer = await askExecutor(nats, nats.names.sandboxEnd(executorId), { request, answer: endAnswer });
  return answer?.ended ?? undefined;
}

/** The executor's end: `end` resolves once everything is seen dead. Returns what ends the listening. */
export function answerRunEnds(
  nats: NatsLink,
  executorId: string,
  end: (run: RunInSandbox) => Promise<readonly StoppedTool[]>,
): () => void {
  return answerRequests(nats, nats.names.sandboxEnd(executorId), {
    request: endRequest,
    work: async ({ thread_id: threadId, run_id: runId }) => {
      const ended = await end({ threadId, runId }).catch((error: unknown) => {
        nats.log.warn({ executorId, threadId, runId, error }, 'what a run left running could not be ended');
        return null;
      });
      return { ended };
    },
  });
}
