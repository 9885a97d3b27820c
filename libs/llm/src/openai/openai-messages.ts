import {
  type ModelMessage,
  type ModelToolResult,
  type ShownBlock,
  type ShownImage,
  memoizeGrowingList,
} from '@rondo/domain';
import type OpenAI from 'openai';
import { lostImage, unloadedImage, wireToolName } from '../wire-protocol';

type Message = OpenAI.ChatCompletionMessageParam;
type Turn<Role extends ModelMessage['role']> = Extract<ModelMessage, { role: Role }>;
type Part = OpenAI.ChatCompletionContentPartText | OpenAI.ChatCompletionContentPartImage;

/** The conversation in OpenAI's shape. Reasoning is not sent back: servers would read it as content. */
export function toOpenAiMessages(system: string, conversation: readonly ModelMessage[]): Message[] {
  const { messages, images } = turnsOf(conversation);
  return [
    ...(system.trim() === '' ? [] : [{ role: 'system', content: system } as const]),
    ...messages,
    ...(images.length > 0 ? [userMessage(images)] : []),
  ];
}

/** The messages so far, and images of tool results for the next user message. */
interface Turns {
  readonly messages: Message[];
  images: readonly Part[];
}

const turnsOf = memoizeGrowingList<ModelMessage, Turns>((turns = { messages: [], images: [] }, more) => {
  for (const message of more) add(turns, message);
  return turns;
});

function add(turns: Turns, message: ModelMessage): void {
  const { messages, images } = turns;
  switch (message.role) {
    case 'user':
      messages.push(shownBy(message, images));
      break;
    case 'assistant':
      if (images.length > 0) messages.push(userMessage(images));
      messages.push(assistantMessage(message));
      break;
    case 'tool':
      messages.push(...message.results.map(toolMessage));
  }
  turns.images = message.role === 'tool' ? message.results.flatMap(imagesOf) : [];
}

const shownBy = ({ content }: Turn<'user'>, images: readonly Part[]): Message =>
  userMessage([...images, ...content.map(toPart)]);

function userMessage(parts: readonly Part[]): Message {
  const filled = parts.filter((part) => part.type !== 'text' || part.text.trim() !== '');
  const texts = filled.filter((part) => part.type === 'text');
  if (texts.length < filled.length) return { role: 'user', content: filled };
  return { role: 'user', content: texts.map(({ text }) => text).join('\n\n') || '(empty message)' };
}

const toPart = (block: ShownBlock): Part => (block.type === 'text' ? block : imagePart(block.source));

function imagePart(source: ShownImage): Part {
  switch (source.type) {
    case 'base64':
      return { type: 'image_url', image_url: { url: `data:${source.media_type};base64,${source.data}` } };
    case 'url':
      return { type: 'text', text: unloadedImage };
    case 'blob':
      return { type: 'text', text: lostImage };
  }
}

function assistantMessage({ content }: Turn<'assistant'>): Message {
  const text = content
    .filter((block) => block.type === 'text')
    .map((block) => block.text)
    .join('');
  const calls = content
    .filter((block) => block.type === 'tool_call')
    .map(({ id, name, arguments: input }): OpenAI.ChatCompletionMessageFunctionToolCall => ({
      id,
      type: 'function',
      function: { name: wireToolName(name), arguments: JSON.stringify(input) },
    }));
  if (calls.length === 0) return { role: 'assistant', content: text.trim() === '' ? '(no reply)' : text };
  return { role: 'assistant', ...(text.trim() !== '' && { content: text }), tool_calls: calls };
}

const toolMessage = ({ tool_call_id, text, is_error }: ModelToolResult): Message => ({
  role: 'tool',
  tool_call_id,
  content: text.trim() === '' ? (is_error ? '(failed without output)' : '(no output)') : text,
});

/** A tool message accepts text only, so its images follow in a user message. */
function imagesOf({ tool_call_id, image }: ModelToolResult): Part[] {
  return image ? [{ type: 'text', text: `Image from ${tool_call_id}:` }, imagePart(image)] : [];
}
