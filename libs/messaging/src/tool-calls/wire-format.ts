import {
  type ExecutorResult,
  accountId,
  callId,
  callInput,
  effectClass,
  executorResult,
  planProgress,
  programAnswer,
  programRequest,
  mcpServer,
  mcpTask,
  requiredInput,
  runId,
  runSkill,
  sandboxTerms,
  secretName,
  threadId,
} from '@rondo/contract';
import type { ToolAnswer } from '@rondo/domain';
import { z } from 'zod';
import type { CallKey } from '../connection/subjects';

/**
 * A call on its way to an executor. It carries everything that the executor needs, since executors read no database. Its id
 * is its idempotency key, the same in every attempt.
 */
export const dispatchedCall = z.object({
  call_id: callId,
  run_id: runId,
  thread_id: threadId,
  /** The run's account: an executor shares its slots among accounts. Older workers do not send it. */
  account_id: accountId.exactOptional(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  effect_class: effectClass,
  attempt: z.number().int().positive(),
  timeout_ms: z.number().int().positive(),
  /** The same while its server reports progress: each report begins `timeout_ms` anew. Absent: reports do not count. */
  most_ms: z.number().int().positive().exactOptional(),
  /**
   * For how long its worker waits from now on: no executor starts it later. A length of time, because the clocks of the two hosts may
   * differ; NATS dates the call. Older workers do not send it.
   */
  patience_ms: z.number().int().nonnegative().exactOptional(),
  /** The same as a time, of workers of before. It is not read, for their clocks may differ from that of the executor. */
  expires_at: z.iso.datetime().exactOptional(),
  /** Set for a tool of an MCP server: what an executor needs to call it. Executors of before know no such tools. */
  mcp: z.object({ server: mcpServer, tool: z.string(), fingerprint: z.string() }).exactOptional(),
  /** The secrets that the run names: an executor of before knows none, and commands find no placeholders there. */
  secrets: z.array(secretName).exactOptional(),
  /** The skills that the run names: an executor of before knows none, and commands do not see them there. */
  skills: z.array(runSkill.omit({ description: true })).exactOptional(),
  /** What the environment of the run asks of its sandbox. Executors of before know none: they prepare no workspace for such a run. */
  sandbox: sandboxTerms.exactOptional(),
  /** The store it was sent into, see ToolStreams.store: no other store has its claim. Older workers do not send it. */
  store: z.string().exactOptional(),
  /** The claim of the run under which it was sent, for the labels of a sandbox. Older workers do not send it. */
  epoch: z.number().int().positive().exactOptional(),
  /** The span of the call, as a W3C `traceparent`; only of a run that is traced. Older executors do not read it. */
  traceparent: z.string().exactOptional(),
  /** What people answered to a server that asked for it in an earlier attempt. Older executors know nothing of it. */
  input: callInput.exactOptional(),
  /** What the call has become at its server: the executor asks for it, and calls nothing. Only sent to executors that made it. */
  task: mcpTask.exactOptional(),
  /** Of a program: what its calls have answered so far. Only sent to executors that have asked for them. */
  answers: z.array(programAnswer).exactOptional(),
});
export type DispatchedCall = z.infer<typeof dispatchedCall>;

/** The account that a call counts for when slots are shared. A call that names none counts for its thread alone. */
export const toAccount = ({ account_id, thread_id }: DispatchedCall): string => account_id ?? thread_id;

/** Ends a call. Older workers do not send its effect class. */
export const toolCancel = dispatchedCall
  .pick({ run_id: true, call_id: true, attempt: true })
  .extend({ effect_class: effectClass.exactOptional() });
export type ToolCancel = z.infer<typeof toolCancel>;

export const toKey = ({ run_id: runId, call_id: callId, attempt }: ToolCancel): CallKey => ({
  runId,
  callId,
  attempt,
});

/**
 * Whether an executor may run it without claiming it first, since a second run does no harm. A later attempt is claimed,
 * because an earlier one may turn out to be answered.
 */
export const runsUnclaimed = ({ effect_class, attempt }: ToolCancel): boolean =>
  effect_class === 'pure' && attempt === 1;

/** The outcome of a call. */
export const toolReply = z.discriminatedUnion('how', [
  z.object({
    how: z.literal('answered'),
    result: executorResult,
    duration_ms: z.number().nonnegative(),
    /** The plan in todo.md, where the call may have changed it. Older executors do not send it. */
    plan: planProgress.exactOptional(),
    /** Certainly not executed, because another executor hosts the workspace. `result` says so to workers of older versions. */
    is_elsewhere: z.literal(true).exactOptional(),
    /** Not completed: people are asked first. `result` says so to workers of older versions. */
    input_required: requiredInput.exactOptional(),
    /** The server goes on with it as a task. `result` says so to workers of older versions. */
    task: mcpTask.exactOptional(),
    /** It is a program, which waits for these calls. `result` says so to workers of older versions. */
    calls: z.array(programRequest).exactOptional(),
  }),
  z.object({
    how: z.literal('unknown'),
    reason: z.string(),
    /** Its server does not know the task of the call any more. */
    is_lost: z.literal(true).exactOptional(),
  }),
  z.object({
    how: z.literal('stopped'),
    verified_dead_at: z.iso.datetime().nullable(),
    /** How long it ran. Absent: it was stopped before it ran, or the executor is of an older version. */
    duration_ms: z.number().nonnegative().exactOptional(),
  }),
]);
export type ToolReply = z.infer<typeof toolReply>;

const toolOutput = z.object({ text: z.string(), channel: z.enum(['stdout', 'stderr']).exactOptional() });
export type ToolOutput = z.infer<typeof toolOutput>;

/** What an executor sends about a call to the worker that holds its run: output while it runs, then its reply. */
export const toolProgress = z.object({
  call_id: callId,
  attempt: z.number().int().positive(),
  output: toolOutput.exactOptional(),
  reply: toolReply.exactOptional(),
});
export type ToolProgress = z.infer<typeof toolProgress>;

/** An answer as the executor gave it, including the bytes of an image. */
export type ExecutorAnswer = ToolAnswer<ExecutorResult>;

export function toAnswer(reply: ToolReply): ExecutorAnswer {
  switch (reply.how) {
    case 'answered':
      if (reply.calls) return { how: 'calls', requests: reply.calls };
      if (reply.task) return { how: 'task', task: reply.task };
      if (reply.input_required) return { how: 'input_required', required: reply.input_required };
      return {
        how: 'answered',
        result: reply.result,
        durationMs: reply.duration_ms,
        ...(reply.plan && { plan: reply.plan }),
      };
    case 'unknown':
      return { how: 'unknown', reason: reply.reason, ...(reply.is_lost && { isLost: true }) };
    case 'stopped':
      return {
        how: 'stopped',
        verifiedDeadAt: reply.verified_dead_at,
        ...(reply.duration_ms !== undefined && { durationMs: reply.duration_ms }),
      };
  }
}
