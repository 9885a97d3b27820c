import { z } from 'zod';
import { callId } from './ids';
import { givenSource, keptSource } from './image';
import { textLimits } from './text-limits';
import { recordedResult } from './tool-result';

const textBlock = z.strictObject({ type: z.literal('text'), text: z.string() });

const imageBlock = z.strictObject({ type: z.literal('image'), source: keptSource });

/**
 * What a provider gave with a text or a call and wants back unchanged: a signature, an encrypted item, a list of details. It
 * is stored with its message, and in nothing that leaves the service: see `shownContent`.
 */
export interface Opaque {
  /** The model that gave it, as `family/model`. It goes back to no other. */
  readonly maker: string;
  /** JSON in the form of the maker's protocol. Absent: it is the text of the block that goes back. */
  readonly data?: unknown;
  /** It is valid only in its run, and only while everything before it is sent as it was. */
  readonly bound?: true;
}

/** Reasoning of the model. `signature` and `redacted` are in messages of earlier versions: those of the provider. */
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

export type ToolResultBlock = z.infer<typeof toolResultBlock>;
/** As they are stored. What is shown of them has no `opaque`, so neither has their schema. */
export type ReasoningBlock = z.infer<typeof reasoningBlock> & { opaque?: Opaque };
export type ToolCallBlock = z.infer<typeof toolCallBlock> & { opaque?: Opaque };
export type ContentBlock =
  Exclude<z.infer<typeof contentBlock>, { type: 'reasoning' | 'tool_call' }> | ReasoningBlock | ToolCallBlock;

/** A content without what only its provider may read: the same list if it has nothing of the kind. */
export const toShownContent = (content: ContentBlock[]): ContentBlock[] =>
  content.some(hasOpaque) ? content.map(toShownBlock) : content;

const hasOpaque = (block: ContentBlock): block is ReasoningBlock | ToolCallBlock => 'opaque' in block;

function toShownBlock(block: ContentBlock): ContentBlock {
  if (!hasOpaque(block)) return block;
  const { opaque: _, ...shown } = block;
  return shown;
}

const userBlock = z.discriminatedUnion('type', [textBlock, imageBlock]);
/** The content of a user message. */
export const userContent = z.array(userBlock);
export type UserBlock = z.infer<typeof userBlock>;

/** Half of a surrogate pair is no text, and would make every request of the thread one that providers refuse. */
const characters = z.string().overwrite((text) => text.toWellFormed());

const givenText = textBlock.extend({ text: characters.max(textLimits.block) });
const givenImage = z.strictObject({ type: z.literal('image'), source: givenSource });
export const inputBlock = z.discriminatedUnion('type', [givenText, givenImage]);
export type InputBlock = z.infer<typeof inputBlock>;

const givenBlocks = z.array(inputBlock).min(1).max(textLimits.blocks);

/** The input of a user: a string, or blocks of text and images. A string becomes one text block. */
export const inputContent = z
  .union([characters.min(1).max(textLimits.block), givenBlocks.refine(saysSomething, 'has no text and no image')])
  .refine((content) => charactersIn(content) <= textLimits.message, {
    message: `must have at most ${textLimits.message} characters of text in all`,
  })
  .transform((content): InputBlock[] => (typeof content === 'string' ? [{ type: 'text', text: content }] : content));

function saysSomething(blocks: readonly InputBlock[]): boolean {
  return blocks.some((block) => block.type !== 'text' || block.text !== '');
}

const charactersIn = (content: string | readonly InputBlock[]): number =>
  typeof content === 'string'
    ? content.length
    : content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0);
