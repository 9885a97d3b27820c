import type Anthropic from '@anthropic-ai/sdk';
import type { ReasoningBlock } from '@rondo/contract';
import {
  type AssistantBlock,
  type ModelMessage,
  type ModelToolResult,
  type ShownBlock,
  type ShownDocument,
  type ShownImage,
  memoizeGrowingList,
} from '@rondo/domain';
import { type ConversationRules, toDocument } from '../providers/conversation-rules';
import { lostImage, unloadedImage, unseenImage, wireToolName } from '../wire-protocol';
import { givenThinking } from './given-thinking';

type Block = Anthropic.ContentBlockParam;

/** A message, and how many blocks at its end are for this request alone. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
  readonly temporary?: number;
}

/** Whom the conversation is for: what a model gave goes back to it alone. */
interface Recipient {
  readonly maker: string;
  readonly rules: ConversationRules;
}

/** Turns are remembered for each model, and for each way in which its server wants them. */
export type ToAnthropicTurns = (conversation: readonly ModelMessage[]) => Turn[];

/** The conversation in Anthropic's shape: roles alternate, and the results of a turn's calls open the next user turn. */
export function createAnthropicTurns(recipient: Recipient): ToAnthropicTurns {
  const toTurns = memoizeGrowingList<ModelMessage, Turn[]>((turns = [], more) => {
    for (const message of more) add(turns, message, recipient);
    return turns;
  });
  return (conversation) =>
    toTurns(conversation).map((turn) => (turn.content.length > 0 ? turn : { ...turn, content: [emptyMessage] }));
}

function add(turns: Turn[], message: ModelMessage, recipient: Recipient): void {
  const role = message.role === 'assistant' ? 'assistant' : 'user';
  const content = toBlocks(message, recipient);
  const temporary =
    message.role === 'user' && message.temporary ? { temporary: countTemporary(message, recipient) } : {};
  const last = turns.at(-1);
  if (last?.role === role) turns[turns.length - 1] = { role, content: [...last.content, ...content], ...temporary };
  else turns.push({ role, content, ...temporary });
}

/** An empty block is not sent. */
const countTemporary = ({ content, temporary = 0 }: UserMessage, { rules }: Recipient): number =>
  content.slice(-temporary).flatMap((block) => toShownBlock(block, rules)).length;

type UserMessage = Extract<ModelMessage, { role: 'user' }>;

function toBlocks(message: ModelMessage, { maker, rules }: Recipient): Block[] {
  switch (message.role) {
    case 'user':
      return message.content.flatMap((block) => toShownBlock(block, rules));
    case 'assistant':
      return message.content.flatMap((block) => assistantBlock(block, maker));
    case 'tool':
      return message.results.map((result) => resultBlock(result, rules));
  }
}

const textBlock = (text: string): Anthropic.TextBlockParam => ({ type: 'text', text });

const emptyMessage = textBlock('(empty message)');

const textBlocks = (text: string): Anthropic.TextBlockParam[] => (text.trim() === '' ? [] : [textBlock(text)]);

function toShownBlock(block: ShownBlock, rules: ConversationRules): Block[] {
  switch (block.type) {
    case 'text':
      return textBlocks(block.text);
    case 'image':
      return [imageBlock(block.source, rules)];
    case 'document':
      return [documentBlock(block, rules)];
  }
}

function documentBlock(document: ShownDocument, rules: ConversationRules): Block {
  const sent = toDocument(document, rules);
  if (typeof sent === 'string') return textBlock(sent);
  const { name: title, data } = sent;
  return { type: 'document', title, source: { type: 'base64', media_type: 'application/pdf', data } };
}

function imageBlock(
  source: ShownImage,
  { textOnly }: ConversationRules,
): Anthropic.ImageBlockParam | Anthropic.TextBlockParam {
  if (textOnly) return textBlock(unseenImage);
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

function resultBlock(
  { tool_call_id, text, is_error, image }: ModelToolResult,
  rules: ConversationRules,
): Anthropic.ToolResultBlockParam {
  const texts = textBlocks(text);
  const shown = image ? [imageBlock(image, rules)] : [];
  const content = [...(texts.length > 0 ? texts : [textBlock('(no output)')]), ...shown];
  return { type: 'tool_result', tool_use_id: tool_call_id, content, ...(is_error && { is_error }) };
}
