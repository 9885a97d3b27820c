import { z } from 'zod';
import { callId } from './ids';
import { givenSource, keptSource } from './image';
import { textLimits } from './text-limits';
import { recordedResult } from './tool-result';

const textBlock = z.strictObject({ type: z.literal('text'), text: z.string() });

const imageBlock = z.strictObject({ type: z.literal('image'), source: keptSource });

/** Reasoning of the model. `signature` and `redacted` belong to the provider and go back to it unchanged. */
const reasoningBlock = z.strictObject({
  type: z.literal('reasoning'),
  text: z.string(),
  signature: z.string().optional(),
  redacted: z.string().optional(),
});

/** `raw_arguments` is what the model wrote if that was no JSON object; `arguments` is then empty. */
const toolCallBlock = z.strictObject({
  type: z.literal('tool_call'),
  tool_call_id: callId,
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  raw_arguments: z.string().optional(),
});

const toolResultBlock = z.strictObject({
  type: z.literal('tool_result'),
  tool_call_id: callId,
  name: z.string(),
  result: recordedResult,
});

export const contentBlock = z.discriminatedUnion('type', [
  textBlock,
  imageBlock,
  reasoningBlock,
  toolCallBlock,
  toolResultBlock,
]);
export type ContentBlock = z.infer<typeof contentBlock>;
export type ToolResultBlock = z.infer<typeof toolResultBlock>;
export type ReasoningBlock = z.infer<typeof reasoningBlock>;

const userBlock = z.discriminatedUnion('type', [textBlock, imageBlock]);
/** The content of a user message. */
export const userContent = z.array(userBlock);
export type UserBlock = z.infer<typeof userBlock>;

const givenText = textBlock.extend({ text: z.string().max(textLimits.block) });
const givenImage = z.strictObject({ type: z.literal('image'), source: givenSource });
export const inputBlock = z.discriminatedUnion('type', [givenText, givenImage]);
export type InputBlock = z.infer<typeof inputBlock>;

/** The input of a user: a string, or blocks of text and images. A string becomes one text block. */
export const inputContent = z
  .union([z.string().min(1).max(textLimits.block), z.array(inputBlock).min(1).max(textLimits.blocks)])
  .refine((content) => charactersIn(content) <= textLimits.message, {
    message: `must have at most ${textLimits.message} characters of text in all`,
  })
  .transform((content): InputBlock[] => (typeof content === 'string' ? [{ type: 'text', text: content }] : content));

const charactersIn = (content: string | readonly InputBlock[]): number =>
  typeof content === 'string'
    ? content.length
    : content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0);
