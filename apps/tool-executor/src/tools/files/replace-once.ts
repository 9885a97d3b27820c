import { type ToolResult, toFailedResult } from '@rondo/contract';
import { clipMiddle } from '../clip-text';
import { toSuccess } from '../tool-handler';

type Replaced =
  | { readonly found: 'nowhere' }
  | { readonly found: 'several'; readonly lines: readonly number[] }
  | { readonly found: 'once'; readonly content: Buffer; readonly snippet: string };

const maximumPositions = 20;
const linesAround = 3;
const newline = 0x0a;

/**
 * Replaces the only occurrence of a text, byte for byte. Overlapping occurrences count separately. Models write `\n` whatever a
 * file has: where all of its lines end in CRLF, so do those of both texts.
 */
export function replaceOnce(content: Buffer, oldText: string, newText: string): Replaced {
  const ends = lineEndsLike(content);
  return replaceExactly(content, ends(oldText), ends(newText));
}

/** Writes the line ends of a text as the file has them, if all of its own are CRLF. */
export function lineEndsLike(content: Buffer): (text: string) => string {
  const file = content.toString('latin1');
  return /\r\n/.test(file) && !/(^|[^\r])\n/.test(file) ? (text) => text.replace(/\r?\n/g, '\r\n') : (text) => text;
}

function replaceExactly(content: Buffer, oldText: string, newText: string): Replaced {
  const wanted = Buffer.from(oldText);
  const positions = occurrences(content, wanted);
  const [at, ...others] = positions;
  if (at === undefined) return { found: 'nowhere' };
  if (others.length > 0) return { found: 'several', lines: positions.map((position) => lineAt(content, position)) };

  const inserted = Buffer.from(newText);
  const result = Buffer.concat([content.subarray(0, at), inserted, content.subarray(at + wanted.length)]);
  return { found: 'once', content: result, snippet: snippetAround(result, at, at + inserted.length) };
}

function occurrences(content: Buffer, wanted: Buffer): number[] {
  const positions: number[] = [];
  for (
    let at = content.indexOf(wanted);
    at !== -1 && positions.length < maximumPositions;
    at = content.indexOf(wanted, at + 1)
  ) {
    positions.push(at);
  }
  return positions;
}

function lineAt(content: Buffer, offset: number): number {
  let line = 1;
  for (let at = content.indexOf(newline); at !== -1 && at < offset; at = content.indexOf(newline, at + 1)) line += 1;
  return line;
}

/** The changed lines and some around them, numbered. */
export function snippetAround(content: Buffer, start: number, end: number): string {
  const first = Math.max(1, lineAt(content, start) - linesAround);
  const last = lineAt(content, end) + linesAround;
  const lines = content
    .toString('utf8')
    .split('\n')
    .slice(first - 1, last);
  return lines.map((line, index) => `${String(first + index).padStart(5)}  ${line}`).join('\n');
}

/** What to write, if the text was found once, and what the model is told. */
export interface Edit {
  readonly content?: Buffer;
  readonly result: ToolResult;
}

export function resultOfReplacement(path: string, replaced: Replaced): Edit {
  switch (replaced.found) {
    case 'nowhere':
      return failEdit(`old_str does not occur in ${path}. It must match byte for byte, white space included.`);
    case 'several':
      return failEdit(
        `old_str occurs more than once in ${path}, on lines ${replaced.lines.join(', ')}. ` +
          'Take in more of the text around the one that you mean.',
      );
    case 'once':
      return { content: replaced.content, result: toSuccess(describeEdit(path, replaced.snippet)) };
  }
}

export const failEdit = (error: string): Edit => ({ result: toFailedResult(error) });

export const describeEdit = (path: string, snippet: string): string =>
  `Edited ${path}. It now reads:\n${clipMiddle(snippet, { limit: 4_000 }).text}`;
