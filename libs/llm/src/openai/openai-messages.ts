import { type ModelMessage, type ModelToolResult, type ShownBlock, type ShownImage, oncePer } from '@rondo/domain';
import type OpenAI from 'openai';
import { lostImage, wireToolName } from '../wire-names';

type Message = OpenAI.ChatCompletionMessageParam;
type Turn<Role extends ModelMessage['role']> = Extract<ModelMessage, { role: Role }>;
type Part = OpenAI.ChatCompletionContentPartText | OpenAI.ChatCompletionContentPartImage;

/**
 * The conversation in OpenAI's shape. Reasoning is not sent back: no server wants it as content (W24). What was said in
 * an earlier request is the same object again.
 */
export function toOpenAiMessages(system: string, conversation: readonly ModelMessage[]): Message[] {
  const messages: Message[] = system.trim() === '' ? [] : [{ role: 'system', content: system }];
  let images: Part[] = [];

  for (const message of conversation) {
    switch (message.role) {
      case 'user':
        messages.push(images.length > 0 ? shownBy(message, images) : spokenBy(message));
        images = [];
        break;
      case 'assistant':
        if (images.length > 0) messages.push(userMessage(images));
        images = [];
        messages.push(assistantMessage(message));
        break;
      case 'tool':
        messages.push(...message.results.map(toolMessage));
        images = message.results.flatMap(imagesOf);
        break;
    }
  }
  return images.length > 0 ? [...messages, userMessage(images)] : messages;
}

const shownBy = ({ content }: Turn<'user'>, images: readonly Part[]): Message =>
  userMessage([...images, ...content.map(toPart)]);

const spokenBy = oncePer((turn: Turn<'user'>) => shownBy(turn, []));

function userMessage(parts: readonly Part[]): Message {
  const spoken = parts.filter((part) => part.type !== 'text' || part.text.trim() !== '');
  const texts = spoken.filter((part) => part.type === 'text');
  if (texts.length < spoken.length) return { role: 'user', content: spoken };
  return { role: 'user', content: texts.map(({ text }) => text).join('\n\n') || '(empty message)' };
}

const toPart = (block: ShownBlock): Part => (block.type === 'text' ? block : imagePart(block.source));

function imagePart(source: ShownImage): Part {
  switch (source.type) {
    case 'base64':
      return { type: 'image_url', image_url: { url: `data:${source.media_type};base64,${source.data}` } };
    case 'url':
      return { type: 'image_url', image_url: { url: source.url } };
    case 'blob':
      return { type: 'text', text: lostImage };
  }
}

const assistantMessage = oncePer(({ content }: Turn<'assistant'>): Message => {
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
});

const toolMessage = oncePer(({ tool_call_id, text, is_error }: ModelToolResult): Message => ({
  role: 'tool',
  tool_call_id,
  content: text.trim() === '' ? (is_error ? '(failed without output)' : '(no output)') : text,
}));

/** A tool message takes text only, so its images follow as what the user shows. */
function imagesOf({ tool_call_id, image }: ModelToolResult): Part[] {
  return image ? [{ type: 'text', text: `Image from ${tool_call_id}:` }, imagePart(image)] : [];
}
