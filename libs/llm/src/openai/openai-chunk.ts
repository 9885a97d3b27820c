import { z } from 'zod';
import { costFields } from '../token-usage';

/**
 * What is read of a chunk or of a whole reply. Servers that imitate OpenAI differ in every field, so each is read for itself:
 * one of an unknown type or range is as if it were absent, and loses nothing of the rest.
 */
const lenient = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(undefined);

const text = lenient(z.string());

/** An id or a number that a server may send as the other of the two. */
const wholeNumber = z.preprocess(
  (value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value),
  z.number().int().nonnegative(),
);
const id = z.union([z.string(), z.number().transform(String)]);

const calledFunction = z.object({
  name: text,
  /** Text, or the object itself. */
  arguments: z.unknown().optional(),
  /** What LiteLLM wants back here, rather than with the call. */
  provider_specific_fields: z.unknown().optional(),
});

const toolCallDelta = z
  .object({
    index: lenient(wholeNumber),
    id: lenient(id),
    function: lenient(calledFunction),
    /** What the provider wants back with the call. */
    extra_content: z.unknown().optional(),
    /** The same from LiteLLM. */
    provider_specific_fields: z.unknown().optional(),
  })
  .catch({});
export type ToolCallDelta = z.infer<typeof toolCallDelta>;

const createList = <Schema extends z.ZodType>(schema: Schema) =>
  lenient(z.preprocess((value) => (Array.isArray(value) || !value ? value : [value]), z.array(schema)));

const said = z.object({
  /** Text, or a list of typed parts: see `partsIn`. */
  content: z.unknown().optional(),
  refusal: text,
  /** Text, or an object or a list that has it: see `textIn`. */
  reasoning_content: z.unknown().optional(),
  reasoning: z.unknown().optional(),
  /** Copilot's names for both. */
  reasoning_text: z.unknown().optional(),
  reasoning_opaque: text,
  reasoning_details: lenient(z.array(z.record(z.string(), z.unknown().optional()))),
  /** Claude's thinking through LiteLLM; the signature comes with the last piece. */
  thinking_blocks: lenient(z.array(z.looseObject({ signature: text }))),
  tool_calls: createList(toolCallDelta),
  function_call: lenient(calledFunction),
});
export type Said = z.infer<typeof said>;

/** Negative numbers mean "unknown", and fractions of a token occur. */
const tokens = lenient(z.number().nonnegative());

const openAiUsage = z.object({
  prompt_tokens: tokens,
  completion_tokens: tokens,
  total_tokens: tokens,
  prompt_tokens_details: lenient(z.object({ cached_tokens: tokens, cache_write_tokens: tokens })),
  completion_tokens_details: lenient(z.object({ reasoning_tokens: tokens })),
  /** Other makers' names. */
  prompt_cache_hit_tokens: tokens,
  cached_tokens: tokens,
  cache_read_input_tokens: tokens,
  cache_creation_input_tokens: tokens,
  ...costFields,
});
export type OpenAiUsage = z.infer<typeof openAiUsage>;

const usage = lenient(openAiUsage);

const choice = z
  .object({
    delta: lenient(said),
    /** What stands in the place of `delta` in a reply that is not streamed. */
    message: lenient(said),
    /** `""`: the reply is at its end, and the server has no word for it. */
    finish_reason: text,
    usage,
  })
  .catch({});

export type Choice = z.infer<typeof choice>;

/** Several servers report a failure in a chunk, some as a list. */
export const openAiChunk = z.preprocess(
  (value) => (Array.isArray(value) ? (value as unknown[])[0] : value) ?? {},
  z.object({
    choices: createList(choice),
    usage,
    x_groq: lenient(z.object({ usage })),
    error: z.unknown().optional(),
  }),
);

const typedPart = z.object({
  type: text,
  text: z.unknown().optional(),
  thinking: z.unknown().optional(),
  reasoning: z.unknown().optional(),
  summary: z.unknown().optional(),
  content: z.unknown().optional(),
});

/** The text in a field that is text elsewhere: an object or a list of objects with the text in them. */
export function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textIn).join('');
  const part = typedPart.safeParse(value).data;
  return part ? textIn(part.text ?? part.thinking ?? part.reasoning ?? part.summary ?? part.content ?? '') : '';
}

interface TextPart {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

/** The reasoning and the text of `content`, in their order. Parts of other types are none. */
export function partsIn(content: unknown): TextPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return content ? partsIn([content]) : [];
  return content.flatMap((part: unknown): TextPart[] => {
    const type = typeof part === 'string' ? 'text' : typedPart.safeParse(part).data?.type;
    if (type === 'thinking' || type === 'reasoning') return [{ type: 'reasoning', text: textIn(part) }];
    return type === 'text' || type === 'output_text' || !type ? [{ type: 'text', text: textIn(part) }] : [];
  });
}
