import { z } from 'zod';

const milliseconds = z.int().min(0).max(600_000);

const fault = z.strictObject({
  kind: z.enum(['rate_limit', 'server_error', 'overloaded', 'hang', 'reset']),
  /** How many attempts of the same conversation fail before one succeeds. If absent, every attempt fails. */
  times: z.int().min(1).optional(),
  /** Fails within the stream, after this many pieces of output. If absent, the fault replaces the response. */
  after_chunks: z.int().min(0).optional(),
  retry_after_s: z.int().min(0).optional(),
});
export type Fault = z.infer<typeof fault>;

const tokens = z.int().min(0);

/** One reply of the model. Scripts return it, and a caller's own script is a list of turns. */
export const turn = z.strictObject({
  reasoning: z.string().optional(),
  text: z.string().optional(),
  /** Arguments given as a string are sent unchanged, so that they can be invalid JSON. */
  calls: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).default({}),
      }),
    )
    .optional(),
  finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']).optional(),
  /** The delay before the first output. */
  delay_ms: milliseconds.optional(),
  /** The delay between two pieces of output. */
  pace_ms: milliseconds.optional(),
  /** The size of a piece of output, counted in code points. */
  chunk_chars: z.int().min(1).max(100_000).optional(),
  /** Reported instead of the estimate. */
  usage: z
    .strictObject({
      input_tokens: tokens.optional(),
      cached_tokens: tokens.optional(),
      output_tokens: tokens.optional(),
    })
    .optional(),
  /** A prompt of more tokens is refused as too long. */
  context_limit: z.int().min(1).optional(),
  fault: fault.optional(),
});
export type Turn = z.infer<typeof turn>;
export type FinishReason = NonNullable<Turn['finish_reason']>;

export function toFinishReason({ finish_reason, calls = [] }: Turn): FinishReason {
  return finish_reason ?? (calls.length > 0 ? 'tool_calls' : 'stop');
}
