import type { ToolCallRow } from '@rondo/client';
import { plainText } from '../ui/plain-text.ts';

const telling = ['command', 'file_path', 'path', 'url', 'query', 'queries', 'question', 'text'];
const longest = 160;

/** The argument that says most, in one line. */
export function gistOf({ arguments: known, argumentsText }: Pick<ToolCallRow, 'arguments' | 'argumentsText'>): string {
  if (!known) return lineOf(argumentsText.slice(-longest));
  const name = telling.find((candidate) => candidate in known) ?? Object.keys(known)[0];
  if (name === undefined) return '';
  const value = known[name];
  return lineOf(typeof value === 'string' ? value : JSON.stringify(value));
}

function lineOf(text: string): string {
  const line = plainText(text.slice(0, 4 * longest))
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}
