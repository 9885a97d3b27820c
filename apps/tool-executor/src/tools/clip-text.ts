import { characterStart } from '@rondo/contract';
import { usualOutputCharacters } from '@rondo/domain';

/** The longest text that one result shows to a model. */
export const resultCharacters = usualOutputCharacters;

export interface ClippedText {
  readonly text: string;
  readonly truncated: boolean;
}

interface ClipOptions {
  readonly limit?: number;
  /** A file of the workspace that has the omitted text. */
  readonly restIn?: string | undefined;
}

/** The beginning and the end of a text that is too long, with a note between them that says how much is left out. */
export function clipMiddle(text: string, { limit = resultCharacters, restIn }: ClipOptions = {}): ClippedText {
  if (text.length <= limit) return { text, truncated: false };

  const half = Math.floor(limit / 2);
  const head = text.slice(0, characterStart(text, half));
  const tail = text.slice(characterStart(text, text.length - half));
  const missing = text.length - head.length - tail.length;
  const readOn = restIn === undefined ? '' : `; what was kept of them is in the file ${restIn}`;
  return { text: `${head}\n\n[… ${missing} characters left out${readOn} …]\n\n${tail}`, truncated: true };
}
