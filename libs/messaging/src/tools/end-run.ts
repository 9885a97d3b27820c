import { type RunId, type StoppedTool, type ThreadId, callId, runId, threadId } from '@rondo/domain';
import type { Msg } from 'nats';
import { z } from 'zod';
import type { NatsLink } from '../nats/nats-link';
import { received } from '../nats/received';
import { askExecutor } from './ask-executor';

const endRequest = z.object({ thread_id: threadId, run_id: runId });
const endAnswer = z.object({
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
 * Has an executor end what a run's calls have left running in the thread's sandbox. Undefined where nobody listens, something
 * could not be seen dead, or it takes longer than one waits. Asking again is always safe.
 */
export async function askToEndRun(
  nats: NatsLink,
  executorId: string,
  { threadId, runId }: RunInSandbox,
): Promise<readonly StoppedTool[] | undefined> {
  if (!nats.connected) return undefined;
  try {
    const request = { thread_id: threadId, run_id: runId };
    const answer = await askExecutor(nats, nats.names.sandboxEnd(executorId), request);
    return received(endAnswer, answer, nats.log)?.ended ?? undefined;
  } catch {
    return undefined; // Nobody listens, or none that answers in time: the receipt says that it is not known.
  }
}

/** The executor's end: `end` resolves once everything is seen dead. Returns what ends the listening. */
export function answerRunEnds(
  nats: NatsLink,
  executorId: string,
  end: (run: RunInSandbox) => Promise<readonly StoppedTool[]>,
): () => void {
  const answer = async (message: Msg): Promise<void> => {
    const request = received(endRequest, message, nats.log);
    if (!request) return;

    const { thread_id: threadId, run_id: runId } = request;
    const ended = await end({ threadId, runId }).catch((error: unknown) => {
      nats.log.warn({ executorId, threadId, runId, error }, 'what a run left running could not be ended');
      return null;
    });
    message.respond(JSON.stringify({ ended }));
  };
  const subject = nats.names.sandboxEnd(executorId);
  const subscription = nats.connection.subscribe(subject, {
    callback: (error, message) => {
      if (error) nats.log.error({ executorId, subject, error }, 'sandbox subscription ended');
      else void answer(message);
    },
  });
  return () => subscription.unsubscribe();
}
