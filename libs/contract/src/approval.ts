import { z } from 'zod';
import { approvalId, callId, runId, threadId } from './ids';
import { textLimits } from './text-limits';
import { effectClass } from './tool-call';

/** What a person decides about a call that needs approval. */
export const approvalDecision = z.enum(['approve', 'deny', 'edit']);

/** How the wait for an approval ended. `expire`: no decision was made in time, which denies the call. */
export const approvalOutcome = z.enum([...approvalDecision.options, 'expire']);
export type ApprovalOutcome = z.infer<typeof approvalOutcome>;

/** An approval that a run waits for. */
export const awaitedApproval = z.object({
  approval_id: approvalId,
  tool_call_id: callId,
  name: z.string(),
  requested_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});
export type AwaitedApproval = z.infer<typeof awaitedApproval>;

/** What became of it. `arguments` and `effect_class` are those of an edited call. */
export const decidedApproval = z.object({
  approval_id: approvalId,
  tool_call_id: callId,
  name: z.string(),
  outcome: approvalOutcome,
  /** The id of the API key with which it was decided. Null: it expired. */
  decided_by: z.string().nullable(),
  reason: z.string().nullable(),
  /** Of the arguments that the person saw. */
  arguments_hash: z.string().nullable(),
  arguments: z.record(z.string(), z.unknown()).exactOptional(),
  effect_class: effectClass.exactOptional(),
});
export type DecidedApproval = z.infer<typeof decidedApproval>;

/** An approval as the inbox lists it. */
export const listedApproval = awaitedApproval.extend({ tool_call_id: callId.nullable() });
export type ListedApproval = z.infer<typeof listedApproval>;

/** An approval as the API shows it. */
export const approval = z.object({
  id: approvalId,
  run_id: runId,
  thread_id: threadId,
  /** Null: of a secret in the header of an MCP server that the run begins with. */
  tool_call_id: callId.nullable(),
  /** Of the tool; `use_secret` where a running call would use a secret. */
  name: z.string(),
  /** What the call would run with, or ran with after an edit. Of a secret: its name, the host, the method and the path. */
  arguments: z.record(z.string(), z.unknown()),
  arguments_hash: z.string(),
  effect_class: effectClass,
  requested_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  /** Null while it is open. */
  outcome: approvalOutcome.nullable(),
  decided_by: z.string().nullable(),
  decided_at: z.iso.datetime().nullable(),
  reason: z.string().nullable(),
});
export type Approval = z.infer<typeof approval>;

/** Arguments by name; `*` stands for any text. All of them must match. */
const argumentPattern = z
  .record(z.string().max(textLimits.toolName), z.string().max(1_000))
  .refine((pattern) => Object.keys(pattern).length > 0, { message: 'must name an argument' });

/** Which calls of a tool need approval: all, none, or those that one of the patterns matches. */
export const approvalRule = z.union([z.boolean(), z.array(argumentPattern).min(1).max(50)]);
export type ApprovalRule = z.infer<typeof approvalRule>;

export const approvalSettings = z.strictObject({
  /** By the name of a tool or of a group of tools. */
  rules: z.record(z.string(), approvalRule),
  expires_s: z
    .number()
    .int()
    .min(1)
    .max(30 * 86_400),
});
export type ApprovalSettings = z.infer<typeof approvalSettings>;
