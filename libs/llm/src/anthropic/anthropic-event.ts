import { z } from 'zod';

/** One field of an unknown type or range is as if it were absent, and loses nothing of the rest. */
const lenient = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(undefined);

/** Negative numbers mean "unknown", and fractions of a token occur. */
const tokens = lenient(z.number().nonnegative());
const text = lenient(z.string());

const usage = z.object({
  input_tokens: tokens,
  output_tokens: tokens,
  cache_read_input_tokens: tokens,
  cache_creation_input_tokens: tokens,
  cache_creation: lenient(z.object({ ephemeral_1h_input_tokens: tokens })),
});
export type AnthropicUsage = z.infer<typeof usage>;

/** The start of a content block of any type. */
const block = z
  .object({
    type: z.string(),
    text,
    thinking: text,
    signature: text,
    data: text,
    name: text,
    input: z.unknown().optional(),
  })
  .catch({ type: 'unknown' });
export type AnthropicBlock = z.infer<typeof block>;

/** More of a block. Its type is the field that it fills. */
const delta = z.object({ type: text, text, thinking: text, signature: text, partial_json: text }).catch({});
export type AnthropicDelta = z.infer<typeof delta>;

/** Why a reply ends. */
const stop = z.object({ stop_reason: text, stop_details: lenient(z.object({ explanation: text })) });

/** A reply that is not streamed. */
export const anthropicMessage = stop.extend({ content: lenient(z.array(block)), usage: lenient(usage) });

/** Absent in some imitations: then it is the latest block. */
const index = lenient(
  z.preprocess((value) => (typeof value === 'string' ? Number(value) : value), z.number().int().nonnegative()),
);

/** An event of any type. Those of an unknown type have nothing that is read. */
export const anthropicEvent = z.preprocess(
  (value) => (Array.isArray(value) ? (value as unknown[])[0] : value) ?? {},
  z.object({
    type: text,
    message: lenient(z.object({ usage: lenient(usage) })),
    index,
    content_block: block.optional(),
    delta: delta.and(stop).optional().catch(undefined),
    usage: lenient(usage),
    error: z.unknown().optional(),
  }),
);
export type AnthropicEvent = z.infer<typeof anthropicEvent>;
