import { type ToolResult, toFailedResult } from '@rondo/contract';
import { clipMiddle, resultCharacters } from '../clip-text';
import { toSuccess } from '../tool-handler';

/** Counted from 1, both included. */
interface LineRange {
  readonly first: number | undefined;
  readonly last: number | undefined;
  /** How to ask for the rest, from a line on. */
  readonly readOnWith?: (line: number) => string;
}

/** Undefined when the bytes are not text. */
export function decodeText(content: Buffer): string | undefined {
  if (content.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

/** The requested lines unchanged. When they do not all fit, the first of them and where to continue reading. */
export function selectLines(
  text: string,
  { first = 1, last = Infinity, readOnWith = fromStartLine }: LineRange,
): ToolResult {
  const lines = listLines(text);
  if (lines.length === 0) return toSuccess('[the file is empty]');
  if (first > lines.length) return toFailedResult(`The file has only ${lines.length} lines.`);
  if (last < first) return toFailedResult('The last line is before the first.');

  const wanted = lines.slice(first - 1, last);
  const fitting = wanted.slice(0, countFitting(wanted));
  const { text: shown, truncated } = clipMiddle(fitting.join(''));
  const end = first + fitting.length - 1;
  const readOn = end < Math.min(last, lines.length) ? `; continue with ${readOnWith(end + 1)}` : '';
  if (fitting.length === lines.length) return toSuccess(shown, truncated);

  const note = `[lines ${first} to ${end} of ${lines.length}${readOn}]`;
  return toSuccess(`${shown}${shown.endsWith('\n') ? '' : '\n'}${note}`, truncated || readOn !== '');
}

const fromStartLine = (line: number): string => `start_line=${line}`;

/** Lines with their line ends, so that joining them restores the text. */
export const listLines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** At least one: a line that is too long by itself is shown without its middle. */
function countFitting(lines: readonly string[]): number {
  let characters = 0;
  const tooMany = lines.findIndex((line) => (characters += line.length) > resultCharacters);
  return tooMany === -1 ? lines.length : Math.max(1, tooMany);
}
