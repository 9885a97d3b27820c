import { type ExecutorResult, accountId, callId, effectClass, executorResult, runId, threadId } from '@rondo/contract';
import type { ToolAnswer } from '@rondo/domain';
import { z } from 'zod';
import type { CallKey } from '../connection/subjects';

/**
 * A call on its way to an executor. It carries all that the executor needs: executors read no database. Its id is its
 * idempotency key, the same in every attempt.
 */
export const dispatchedCall = z.object({
  call_id: callId,
  run_id: runId,
  thread_id: threadId,
  /** Whose run it is: an executor shares its slots among accounts. Workers of an older version do not say. */
  account_id: accountId.exactOptional(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  effect_class: effectClass,
  attempt: z.number().int().positive(),
  timeout_ms: z.number().int().positive(),
  /** No executor begins it later: whoever sent it has given it up by then. Workers of an older version do not say. */
  expires_at: z.iso.datetime().exactOptional(),
  /** What it was sent into, see ToolStreams.store: no other store knows who took it. Older workers do not say. */
  store: z.string().exactOptional(),
});
export type DispatchedCall = z.infer<typeof dispatchedCall>;

/** Who shares the executor's slots with others; where that is not said, each thread counts for itself. */
export const accountOf = ({ account_id, thread_id }: DispatchedCall): string => account_id ?? thread_id;

/** Ends a call. Workers of an older version do not say its class. */
export const toolCancel = dispatchedCall
  .pick({ run_id: true, call_id: true, attempt: true })
  .extend({ effect_class: effectClass.exactOptional() });
export type ToolCancel = z.infer<typeof toolCancel>;

export const keyOf = ({ run_id: runId, call_id: callId, attempt }: ToolCancel): CallKey => ({
  runId,
  callId,
  attempt,
});

/**
 * Whether its executor may run it without taking it first: a second run harms nobody. An earlier attempt might have been
 * answered after all, so a later one is taken.
 */
export const runsUnclaimed = ({ effect_class, attempt }: ToolCancel): boolean =>
  effect_class === 'pure' && attempt === 1;

/** What came of it. */
export const toolReply = z.discriminatedUnion('how', [
  z.object({ how: z.literal('answered'), result: executorResult, duration_ms: z.number().nonnegative() }),
  z.object({ how: z.literal('unknown'), reason: z.string() }),
  z.object({ how: z.literal('stopped'), verified_dead_at: z.iso.datetime().nullable() }),
]);
export type ToolReply = z.infer<typeof toolReply>;

const toolOutput = z.object({ text: z.string(), channel: z.enum(['stdout', 'stderr']).exactOptional() });
export type ToolOutput = z.infer<typeof toolOutput>;

/** What is said of a call to whoever holds its run. */
export const toolProgress = z.object({
  call_id: callId,
  attempt: z.number().int().positive(),
  output: toolOutput.exactOptional(),
  reply: toolReply.exactOptional(),
});
export type ToolProgress = z.infer<typeof toolProgress>;

/** As the executor gave it, with the bytes of its image. */
export type ExecutorAnswer = ToolAnswer<ExecutorResult>;

export function answerOf(reply: ToolReply): ExecutorAnswer {
  switch (reply.how) {
    case 'answered':
      return { how: 'answered', result: reply.result, durationMs: reply.duration_ms };
    case 'unknown':
      return reply;
    case 'stopped':
      return { how: 'stopped', verifiedDeadAt: reply.verified_dead_at };
  }
}
