import type { ContentBlock, MessageId, NewMessage } from '@rondo/contract';
import { memoizeByNumber } from '../memoize/memoize';
import { textOf } from './message-text';

/**
 * A message whose texts have at most about `keep` characters together, each with a hint how to read the whole (SM9). The
 * same object for the same question, so that what is known of it need not be worked out again.
 */
export const shortened = memoizeByNumber(shorten);

function shorten(message: NewMessage, keep: number): NewMessage {
  const length = textOf(message).length;
  if (length <= keep) return message;

  const share = keep / length;
  const cut = (text: string): string => cutTo(text, Math.floor(text.length * share), message.id);
  return { ...message, content: message.content.map((block) => shortBlock(block, cut)) };
}

type Cut = (text: string) => string;

function shortBlock(block: ContentBlock, cut: Cut): ContentBlock {
  switch (block.type) {
    case 'text':
      return { ...block, text: cut(block.text) };
    case 'tool_call':
      return {
        ...block,
        arguments: shortArguments(block.arguments, cut),
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

/** An object stays an object: its strings are cut, and where that is not enough, it is one string. */
function shortArguments(given: Record<string, unknown>, cut: Cut): Record<string, unknown> {
  const whole = JSON.stringify(given);
  const short = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, shortValue(value, cut)]));
  const wanted = cut(whole);
  return JSON.stringify(short).length <= Math.max(wanted.length * 2, worthCutting) ? short : { shortened: wanted };
}

function shortValue(value: unknown, cut: Cut): unknown {
  return typeof value === 'string' ? cut(value) : value;
}

/** A text that is not longer than this is left alone: the hint would take as much. */
const worthCutting = 200;

function cutTo(text: string, keep: number, id: MessageId): string {
  if (text.length <= Math.max(keep, worthCutting)) return text;
  const head = wholeUnits(text, Math.ceil(keep * 0.7));
  const tail = wholeUnits(text, text.length - Math.floor(keep * 0.3));
  return `${text.slice(0, head)}\n[… ${tail - head} characters are left out here: expand_message("${id}") shows them …]\n${text.slice(tail)}`;
}

/** A place near `at` that does not lie inside of a character of two units. */
function wholeUnits(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}
