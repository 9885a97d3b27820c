import type Anthropic from '@anthropic-ai/sdk';
import type { ReasoningBlock } from '@rondo/contract';
import {
  type AssistantBlock,
  type ModelMessage,
  type ModelToolResult,
  type ShownBlock,
  type ShownImage,
  memoizeGrowingList,
} from '@rondo/domain';
import { onePerModel } from '../one-per-model';
import { lostImage, unloadedImage, wireToolName } from '../wire-protocol';
import { givenThinking } from './given-thinking';

type Message = Anthropic.UserMessageParam | Anthropic.AssistantMessageParam;
type Block = Anthropic.ContentBlockParam;

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

/**
 * The conversation in Anthropic's shape: roles alternate, and the results of a turn's calls open the next user turn. `maker` is
 * the model that it is for.
 */
export const toAnthropicMessages = (conversation: readonly ModelMessage[], maker: string): Message[] =>
  turnsFor(maker)(conversation).map((turn) => (turn.content.length > 0 ? turn : { ...turn, content: [emptyMessage] }));

const turnsFor = onePerModel((maker) =>
  memoizeGrowingList<ModelMessage, Turn[]>((turns = [], more) => {
    for (const message of more) add(turns, message, maker);
    return turns;
  }),
);

function add(turns: Turn[], message: ModelMessage, maker: string): void {
  const role = message.role === 'assistant' ? 'assistant' : 'user';
  const content = blocksOf(message, maker);
  const last = turns.at(-1);
  if (last?.role === role) turns[turns.length - 1] = { role, content: [...last.content, ...content] };
  else turns.push({ role, content });
}

function blocksOf(message: ModelMessage, maker: string): Block[] {
  switch (message.role) {
    case 'user':
      return message.content.flatMap(shownBlock);
    case 'assistant':
      return message.content.flatMap((block) => assistantBlock(block, maker));
    case 'tool':
      return message.results.map(resultBlock);
  }
}

const textBlock = (text: string): Anthropic.TextBlockParam => ({ type: 'text', text });

const emptyMessage = textBlock('(empty message)');

const textBlocks = (text: string): Anthropic.TextBlockParam[] => (text.trim() === '' ? [] : [textBlock(text)]);

const shownBlock = (block: ShownBlock): Block[] =>
  block.type === 'text' ? textBlocks(block.text) : [imageBlock(block.source)];

function imageBlock(source: ShownImage): Anthropic.ImageBlockParam | Anthropic.TextBlockParam {
  switch (source.type) {
    case 'base64':
      return { type: 'image', source: { type: 'base64', media_type: source.media_type, data: source.data } };
    case 'url':
      return textBlock(unloadedImage);
    case 'blob':
      return textBlock(lostImage);
  }
}

/** What a model gave goes back to it unchanged, as it requires; other reasoning is not sent, since it would be content. */
function assistantBlock(block: AssistantBlock, maker: string): Block[] {
  switch (block.type) {
    case 'text':
      return textBlocks(block.text);
    case 'reasoning':
      return thinkingBlock(block, maker);
    case 'tool_call':
      return [{ type: 'tool_use', id: block.id, name: wireToolName(block.name), input: block.arguments }];
  }
}

/** Blocks with a signature of their own were stored by an earlier version. */
function thinkingBlock({ text, signature, redacted, opaque }: ReasoningBlock, maker: string): Block[] {
  if (redacted) return [{ type: 'redacted_thinking', data: redacted }];
  if (signature) return [{ type: 'thinking', thinking: text, signature }];
  const given = opaque?.maker === maker ? givenThinking.safeParse(opaque.data).data : undefined;
  if (!given) return [];
  if ('data' in given) return [{ type: 'redacted_thinking', data: given.data }];
  return [{ type: 'thinking', thinking: text, ...given } as Anthropic.ThinkingBlockParam]; // unsigned for some servers
}

function resultBlock({ tool_call_id, text, is_error, image }: ModelToolResult): Anthropic.ToolResultBlockParam {
  const texts = textBlocks(text);
  const content = [...(texts.length > 0 ? texts : [textBlock('(no output)')]), ...(image ? [imageBlock(image)] : [])];
  return { type: 'tool_result', tool_use_id: tool_call_id, content, ...(is_error && { is_error }) };
}
