import { z } from 'zod';
import { callId, messageId, runId } from './ids';
import { placeInProgram } from './program';
import { recordedResult } from './tool-result';

/**
 * How harmful a second execution of a call is. `pure` only reads; `idempotent` leads to the same state; `keyed` is
 * deduplicated by the receiving server, by the id of the call; `unsafe` may take effect twice, so after a crash its
 * outcome is unknown (I5).
 */
export const effectClass = z.enum(['pure', 'idempotent', 'keyed', 'unsafe']);
export type EffectClass = z.infer<typeof effectClass>;

export const dialectName = z.enum(['native', 'xml_invoke', 'xml_tag', 'json']);
export type DialectName = z.infer<typeof dialectName>;

/** The effect ledger's states (I5): planned → dispatched → completed, failed or unknown. */
export const toolCallStatus = z.enum(['planned', 'dispatched', 'completed', 'failed', 'unknown']);
export type ToolCallStatus = z.infer<typeof toolCallStatus>;

/** What a person decides about a call with an unknown outcome. */
export const resolution = z.enum(['completed', 'not_applied', 'retry']);
export type Resolution = z.infer<typeof resolution>;

/**
 * What was made of an argument that the model did not write as the tool's schema has it, by its path: null for an optional
 * parameter and what a closed schema does not have were left out, and text was parsed as the JSON that it holds.
 */
export const argumentChange = z.object({
  path: z.string(),
  change: z.enum(['null_left_out', 'unknown_left_out', 'parsed']),
});
export type ArgumentChange = z.infer<typeof argumentChange>;

/** A row of the effect ledger. */
export const toolCall = z.object({
  id: callId,
  run_id: runId,
  iteration: z.number().int().positive(),
  index: z.number().int().nonnegative(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  /** Absent where the arguments are as the model wrote them. */
  adjusted: z.array(argumentChange).optional(),
  dialect: dialectName,
  effect_class: effectClass,
  status: toolCallStatus,
  result: recordedResult.nullable(),
  attempt: z.number().int().nonnegative(),
  message_id: messageId,
  /** Present where a program has made it, not the model. */
  program: placeInProgram.optional(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
});
export type ToolCall = z.infer<typeof toolCall>;
