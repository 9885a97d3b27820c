import type { ContentBlock, MessageId, NewMessage, ReasoningBlock } from '@rondo/contract';
import { memoize, memoizeByNumber } from '../memoize';
import { toText } from './message-text';

/**
 * A message whose texts have at most about `keep` characters together, each with a hint how to read the whole. The same
 * object for the same arguments, so that its token count is not taken again.
 */
export const shortened = memoizeByNumber(shorten);

/** A message without its reasoning blocks. The same object for the same message, and the message itself if it has none. */
export const withoutReasoning = memoize((message: NewMessage) => withoutThoughts(message, () => true));

/** The same without those that are valid only in their run and place. */
export const withoutBoundReasoning = memoize((message: NewMessage) =>
  withoutThoughts(message, ({ opaque }) => opaque === undefined || opaque.bound === true),
);

function withoutThoughts(message: NewMessage, isGone: (block: ReasoningBlock) => boolean): NewMessage {
  const content = message.content.filter((block) => block.type !== 'reasoning' || !isGone(block));
  return content.length === message.content.length ? message : { ...message, content };
}

/** A message with its newest `keep` images; a note replaces each of the others. */
export const withNewestImages = memoizeByNumber((message: NewMessage, keep) =>
  dropOldestImages(message, imageCount(message) - keep),
);

export const imageCount = ({ content }: NewMessage): number =>
  content.reduce((count, block) => count + (hasImage(block) ? 1 : 0), 0);

export const hasImage = (block: ContentBlock): boolean =>
  block.type === 'image' || (block.type === 'tool_result' && block.result.image !== undefined);

function dropOldestImages(message: NewMessage, count: number): NewMessage {
  let rest = count;
  const note = `[An image of ${message.id} was here; only the newest images are shown.]`;
  const content = message.content.map((block): ContentBlock => {
    if (!hasImage(block) || rest === 0) return block;
    rest -= 1;
    if (block.type !== 'tool_result') return { type: 'text', text: note };
    const { image: _, ...result } = block.result;
    return { ...block, result: { ...result, output: [result.output, note].filter(Boolean).join('\n') } };
  });
  return { ...message, content };
}

function shorten(message: NewMessage, keep: number): NewMessage {
  const length = toText(message).length;
  if (length <= keep) return message;

  const share = keep / length;
  const cut = (text: string): string => cutTo(text, Math.floor(text.length * share), message.id);
  return { ...message, content: message.content.map((block) => shortenBlock(block, cut)) };
}

type Cut = (text: string) => string;

function shortenBlock(block: ContentBlock, cut: Cut): ContentBlock {
  switch (block.type) {
    case 'text':
      return { ...block, text: cut(block.text) };
    case 'tool_call':
      return {
        ...block,
        arguments: shortenArguments(block.arguments, cut),
        ...(block.raw_arguments !== undefined && { raw_arguments: cut(block.raw_arguments) }),
      };
    case 'tool_result': {
      const { output, error } = block.result;
      const result = { ...block.result, output: cut(output), ...(error !== undefined && { error: cut(error) }) };
      return { ...block, result };
    }
    case 'image':
    case 'reasoning':
      return block;
  }
}

/** Cuts the strings of an object; where that is not enough, the object becomes one shortened string. */
function shortenArguments(input: Record<string, unknown>, cut: Cut): Record<string, unknown> {
  const whole = JSON.stringify(input);
  const short = Object.fromEntries(Object.entries(input).map(([name, value]) => [name, shortenValue(value, cut)]));
  const text = cut(whole);
  return JSON.stringify(short).length <= Math.max(text.length * 2, minimumToCut) ? short : { shortened: text };
}

function shortenValue(value: unknown, cut: Cut): unknown {
  return typeof value === 'string' ? cut(value) : value;
}

/** Characters. A shorter text is not cut: the hint would be as long as what it saves. */
const minimumToCut = 200;

function cutTo(text: string, keep: number, id: MessageId): string {
  if (text.length <= Math.max(keep, minimumToCut)) return text;
  const head = characterBoundary(text, Math.ceil(keep * 0.7));
  const tail = characterBoundary(text, text.length - Math.floor(keep * 0.3));
  return `${text.slice(0, head)}\n[… ${tail - head} characters are left out here: expand_message("${id}") shows them …]\n${text.slice(tail)}`;
}

/** The index itself, or the next one where it would split a surrogate pair. */
function characterBoundary(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff ? index + 1 : index;
}
