import type { UserBlock } from '@rondo/contract';
import { firstWords } from '@rondo/domain';

/** More of an input is not searched. */
const mostSearched = 8_000;
const previewLength = 100;

/** What a search looks through. Undefined for an input without text. */
export function inputText(input: readonly UserBlock[]): string | undefined {
  const texts = input.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.join('\n').slice(0, mostSearched).trim() || undefined;
}

/** One line for lists. */
export const toPreview = (text: string): string => firstWords(text, previewLength);
