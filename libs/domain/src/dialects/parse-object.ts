import { findInexactNumber } from '@rondo/contract';

const inside = /["{}]/g;
const inString = /["\\]/g;

/** Finds the end of the first JSON object of a text that arrives in pieces. No character is looked at twice. */
export class ObjectEnd {
  private depth = 0;
  private isInString = false;
  private skips = 0;

  /** The number of characters of this piece up to the end of the object; undefined where it does not end in it. */
  in(piece: string): number | undefined {
    let at = this.skips;
    for (;;) {
      const mark = this.isInString ? inString : inside;
      mark.lastIndex = at;
      const found = mark.exec(piece);
      if (!found) {
        this.skips = Math.max(0, at - piece.length);
        return undefined;
      }
      at = found.index + 1;
      if (found[0] === '"') this.isInString = !this.isInString;
      else if (found[0] === '\\') at += 1;
      else if (found[0] === '{') this.depth += 1;
      else if (--this.depth <= 0) return at;
    }
  }
}

/** Parses a JSON object whose numbers are kept as they are written. `reason` is a sentence for the model. */
export function parseObject(text: string): { value: Record<string, unknown> } | { reason: string; isInexact?: true } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { reason: `The arguments are not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}.` };
  }
  const inexact = findInexactNumber(text);
  if (inexact !== undefined)
    return { reason: `Not all digits of ${inexact.slice(0, 40)} can be kept: write it as a string.`, isInexact: true };
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { value: value as Record<string, unknown> } // an object that is no array and not null is a record
    : { reason: 'The arguments must be one JSON object.' };
}
