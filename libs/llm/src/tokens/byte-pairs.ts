import type { Vocabulary } from './vocabulary';

/** The number of tokens of a text. The time grows with the square of its longest word, so callers pass short slices. */
export function countTokens(text: string, { word, ranks }: Vocabulary): number {
  let count = 0;
  for (const letters of text.match(word) ?? []) {
    const bytes = isAscii.test(letters) ? letters : Buffer.from(letters).toString('latin1');
    count += ranks.has(bytes) ? 1 : countParts(bytes, ranks);
  }
  return count;
}

// eslint-disable-next-line no-control-regex -- all characters of one byte
const isAscii = /^[\x00-\x7f]*$/;

/** Byte pair encoding: repeatedly joins the two adjacent parts whose token has the lowest rank, until no pair is a token. */
function countParts(bytes: string, ranks: ReadonlyMap<string, number>): number {
  const starts = Array.from({ length: bytes.length + 1 }, (_, index) => index);
  const rankAt = (part: number) => ranks.get(bytes.slice(starts[part], starts[part + 2])) ?? Infinity;
  const joined = starts.slice(0, -2).map((_, part) => rankAt(part));

  for (;;) {
    const lowest = indexOfLowest(joined);
    if (lowest === undefined) return starts.length - 1;
    starts.splice(lowest + 1, 1);
    joined.splice(lowest, 1);
    if (lowest < joined.length) joined[lowest] = rankAt(lowest);
    if (lowest > 0) joined[lowest - 1] = rankAt(lowest - 1);
  }
}

function indexOfLowest(ranks: readonly number[]): number | undefined {
  let lowest = Infinity;
  let found: number | undefined;
  for (let index = 0; index < ranks.length; index++) {
    const rank = ranks[index] ?? Infinity;
    if (rank < lowest) [lowest, found] = [rank, index];
  }
  return found;
}
