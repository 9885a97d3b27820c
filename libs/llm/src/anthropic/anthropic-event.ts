import { z } from 'zod';

const tokens = z.number().int().nonnegative().nullish();

const usage = z.object({
  input_tokens: tokens,
  output_tokens: tokens,
  cache_read_input_tokens: tokens,
  cache_creation_input_tokens: tokens,
});
export type AnthropicUsage = z.infer<typeof usage>;

/** Unknown types are ignored; known types must match their schema. */
const anyBut = (...known: string[]) =>
  z
    .object({ type: z.string().refine((type) => !known.includes(type)) })
    .transform(() => ({ type: 'ignored' as const }));

const block = z.union([
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string().default('') }),
    z.object({ type: z.literal('thinking'), thinking: z.string().default(''), signature: z.string().nullish() }),
    z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
    z.object({ type: z.literal('tool_use'), name: z.string(), input: z.unknown().optional() }),
  ]),
  anyBut('text', 'thinking', 'redacted_thinking', 'tool_use'),
]);
export type AnthropicBlock = z.infer<typeof block>;

const delta = z.union([
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('text_delta'), text: z.string() }),
    z.object({ type: z.literal('thinking_delta'), thinking: z.string() }),
    z.object({ type: z.literal('signature_delta'), signature: z.string() }),
    z.object({ type: z.literal('input_json_delta'), partial_json: z.string() }),
  ]),
  anyBut('text_delta', 'thinking_delta', 'signature_delta', 'input_json_delta'),
]);
export type AnthropicDelta = z.infer<typeof delta>;

const index = z.number().int().nonnegative();

const event = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.object({ usage: usage.nullish() }) }),
  z.object({ type: z.literal('content_block_start'), index, content_block: block }),
  z.object({ type: z.literal('content_block_delta'), index, delta }),
  z.object({ type: z.literal('content_block_stop'), index }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({
      stop_reason: z.string().nullish(),
      stop_details: z.object({ explanation: z.string().nullish() }).nullish(),
    }),
    usage: usage.nullish(),
  }),
  z.object({ type: z.literal('message_stop') }),
  z.object({ type: z.literal('error'), error: z.unknown().optional() }),
]);

export const anthropicEvent = z.union([event, anyBut(...event.options.map(({ shape }) => shape.type.value))]);
export type AnthropicEvent = z.infer<typeof anthropicEvent>;
