import { z } from 'zod';

const text = z.string().nullish();

const callFunction = z.object({
  name: text,
  arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
});

const toolCallDelta = z.object({ index: z.number().int().nullish(), id: text, function: callFunction.nullish() });
export type ToolCallDelta = z.infer<typeof toolCallDelta>;

const tokens = z.number().int().nonnegative().nullish();

const said = z
  .object({
    content: text,
    refusal: text,
    reasoning_content: text,
    reasoning: text,
    tool_calls: z.array(toolCallDelta).nullish(),
    function_call: callFunction.nullish(),
  })
  .nullish();

/** The fields of a chunk that are read. Each may be missing or null: compatible servers differ. */
export const openAiChunk = z.object({
  choices: z
    .array(
      z.object({
        delta: said,
        /** In the place of `delta`, in a reply that is not streamed. */
        message: said,
        finish_reason: text,
      }),
    )
    .nullish(),
  usage: z
    .object({
      prompt_tokens: tokens,
      completion_tokens: tokens,
      prompt_tokens_details: z.object({ cached_tokens: tokens, cache_write_tokens: tokens }).nullish(),
    })
    .nullish(),
  error: z.unknown().optional(),
});
export type OpenAiChunk = z.infer<typeof openAiChunk>;
export type OpenAiUsage = NonNullable<OpenAiChunk['usage']>;
