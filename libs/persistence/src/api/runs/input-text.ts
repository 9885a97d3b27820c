import type { UserBlock } from '@rondo/contract';

/** More of an input is not searched. */
const mostSearched = 8_000;
const previewLength = 100;

/** What a search looks through. Undefined for an input without text. */
export function inputText(input: readonly UserBlock[]): string | undefined {
  const texts = input.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.join('\n').slice(0, mostSearched).trim() || undefined;
}

/** One line for lists. */
export const previewOf = (text: string): string => firstWords(text, previewLength);

/** The beginning of a text in one line, at most `length` characters and an ellipsis. It ends with a whole word if that is not far. */
export function firstWords(text: string, length: number): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  const characters = Array.from(line.slice(0, 2 * length + 2));
  if (characters.length <= length) return line;
  const cut = characters.slice(0, length).join('');
  const end = characters[length] === ' ' ? cut.length : cut.lastIndexOf(' ');
  return `${(end > cut.length / 2 ? cut.slice(0, end) : cut).trimEnd()}…`;
}
