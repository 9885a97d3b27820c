import { z } from 'zod';
import { argumentsSchema } from '../arguments-schema';

const textPart = z.strictObject({ type: z.literal('text'), text: z.string().min(1) });
const imagePart = z.strictObject({
  type: z.literal('image_url'),
  image_url: z.strictObject({ url: z.string().min(1), detail: z.enum(['auto', 'low', 'high']).optional() }),
});
const text = z.union([z.string(), z.array(textPart).min(1)]);
const nonEmptyText = z.union([z.string().min(1), z.array(textPart).min(1)]);
const name = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);

const callId = z.string().min(1).max(40);

const toolCall = z.strictObject({
  id: callId,
  type: z.literal('function'),
  function: z.strictObject({ name, arguments: z.string() }),
});

const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: text, name: name.optional() }),
  z.strictObject({ role: z.literal('developer'), content: text, name: name.optional() }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([z.string().min(1), z.array(z.discriminatedUnion('type', [textPart, imagePart])).min(1)]),
    name: name.optional(),
  }),
  z
    .strictObject({
      role: z.literal('assistant'),
      /** Null beside calls, and never absent: some servers demand the key. */
      content: nonEmptyText.nullable(),
      name: name.optional(),
      refusal: z.string().nullish(),
      /** Not part of OpenAI's API: the name of the reasoning text on compatible servers. */
      reasoning_content: z.string().nullish(),
      tool_calls: z.array(toolCall).min(1).optional(),
    })
    .refine(({ content, refusal, tool_calls }) => content ?? refusal ?? tool_calls, {
      path: ['content'],
      message: 'expected a non-empty value, since the message has no tool_calls',
    }),
  z.strictObject({ role: z.literal('tool'), content: text, tool_call_id: callId }),
]);
export type OpenAiMessage = z.infer<typeof message>;

const tool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name,
    description: z.string().optional(),
    parameters: argumentsSchema.optional(),
    strict: z.boolean().nullish(),
  }),
});

const tokens = z.int().min(1).nullish();
/** Accepted and ignored. */
const ignored = z.unknown().optional();

export const openAiRequest = z.strictObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_usage: z.boolean().optional(), include_obfuscation: ignored }).nullish(),
  tools: z.array(tool).min(1).max(128).optional(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.strictObject({ type: z.literal('function'), function: z.strictObject({ name }) }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  n: z.literal(1).nullish(),
  response_format: z.looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) }).optional(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
  frequency_penalty: ignored,
  logit_bias: ignored,
  logprobs: ignored,
  metadata: ignored,
  modalities: ignored,
  prediction: ignored,
  presence_penalty: ignored,
  prompt_cache_key: ignored,
  prompt_cache_retention: ignored,
  safety_identifier: ignored,
  seed: ignored,
  service_tier: ignored,
  stop: ignored,
  store: ignored,
  top_logprobs: ignored,
  user: ignored,
  verbosity: ignored,
});
export type OpenAiRequest = z.infer<typeof openAiRequest>;
