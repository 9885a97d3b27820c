import { z } from 'zod';
import { argumentsSchema } from '../arguments-schema';

const cache_control = z.strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() }).nullish();
const toolId = z.string().regex(/^[a-zA-Z0-9_-]+$/);
const name = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/);

const textBlock = z.strictObject({
  type: z.literal('text'),
  text: z.string().regex(/\S/, 'text content blocks must contain non-whitespace text'),
  citations: z.array(z.unknown()).nullish(),
  cache_control,
});
const imageBlock = z.strictObject({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('base64'),
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: z.base64().min(1),
    }),
    z.strictObject({ type: z.literal('url'), url: z.url() }),
  ]),
  cache_control,
});
const toolResultBlock = z
  .strictObject({
    type: z.literal('tool_result'),
    tool_use_id: toolId,
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textBlock, imageBlock]))]).optional(),
    is_error: z.boolean().optional(),
    cache_control,
  })
  .refine(({ is_error, content = '' }) => !is_error || content.length > 0, {
    path: ['content'],
    message: 'content cannot be empty if `is_error` is true',
  });
const toolUseBlock = z.strictObject({
  type: z.literal('tool_use'),
  id: toolId,
  name,
  input: z.record(z.string(), z.unknown()),
  caller: z.unknown().optional(),
  cache_control,
});
const thinkingBlock = z.strictObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  signature: z.string().min(1),
});
const redactedThinkingBlock = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string().min(1) });

const nonEmptyString = z.string().regex(/\S/, 'messages must have non-empty content');

const message = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: z.union([
      nonEmptyString,
      z.array(z.discriminatedUnion('type', [textBlock, imageBlock, toolResultBlock])).min(1),
    ]),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([
      nonEmptyString,
      z.array(z.discriminatedUnion('type', [textBlock, toolUseBlock, thinkingBlock, redactedThinkingBlock])).min(1),
    ]),
  }),
]);
export type AnthropicMessage = z.infer<typeof message>;
export type AnthropicBlock = Exclude<AnthropicMessage['content'], string>[number];

const tool = z.looseObject({
  type: z.literal('custom').nullish(),
  name,
  description: z.string().optional(),
  input_schema: argumentsSchema,
  cache_control,
});

/** Accepted and ignored. */
const ignored = z.unknown().optional();

export const anthropicRequest = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  messages: z.array(message).min(1),
  system: z.union([z.string(), z.array(textBlock)]).optional(),
  stream: z.boolean().optional(),
  tools: z.array(tool).optional(),
  tool_choice: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.enum(['auto', 'any']), disable_parallel_tool_use: z.boolean().optional() }),
      z.strictObject({ type: z.literal('tool'), name, disable_parallel_tool_use: z.boolean().optional() }),
      z.strictObject({ type: z.literal('none') }),
    ])
    .optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(0).optional(),
  stop_sequences: z.array(z.string()).optional(),
  thinking: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1024), display: ignored }),
      z.strictObject({ type: z.literal('adaptive'), display: ignored }),
      z.strictObject({ type: z.literal('disabled') }),
    ])
    .optional(),
  cache_control,
  metadata: ignored,
  output_config: ignored,
  service_tier: ignored,
});
export type AnthropicRequest = z.infer<typeof anthropicRequest>;
