import { succeeded } from '../tool-handler';
import { lineEndsLike, snippetAround } from './replace-once';
import { type Edit, editedText, failedEdit } from './replacement-result';

interface Insertion {
  /** 0 inserts before the first line. */
  readonly line: number;
  readonly text: string;
  readonly path: string;
}

const newline = 0x0a;

/** Inserts whole lines after a line. A text without a line end at its end, and a last line without one, get it. */
export function insertAfterLine(content: Buffer, { line, text, path }: Insertion): Edit {
  const ends = lineEnds(content);
  const at = line === 0 ? 0 : ends[line - 1];
  if (at === undefined) return failedEdit(`${path} has only ${ends.length} lines.`);

  const before = content.subarray(0, at);
  const isOpen = at > 0 && content[at - 1] !== newline;
  const isClosed = text.endsWith('\n') || at === content.length;
  const withEnds = lineEndsLike(content);
  const inserted = Buffer.from(withEnds(`${isOpen ? '\n' : ''}${text}${isClosed ? '' : '\n'}`));
  const result = Buffer.concat([before, inserted, content.subarray(at)]);
  return { content: result, result: succeeded(editedText(path, snippetAround(result, at, at + inserted.length))) };
}

/** Where each line ends, its line end included. */
function lineEnds(content: Buffer): number[] {
  const ends: number[] = [];
  for (let at = content.indexOf(newline); at !== -1; at = content.indexOf(newline, at + 1)) ends.push(at + 1);
  if (content.length > (ends.at(-1) ?? 0)) ends.push(content.length);
  return ends;
}
