const shownLines = 4;
const shownCharacters = 160;
/** Shown of a long line before the first character that differs. */
const lead = 40;

/** The lines that differ, without what both begin and end with; of a long line the part around its first difference. */
export function shortDiff(before: string, after: string): string[] {
  const [old, now] = [listLines(before), listLines(after)];
  const start = commonLength(old, now);
  const tail = commonLength(old.slice(start).reverse(), now.slice(start).reverse());
  const removed = old.slice(start, old.length - tail);
  const added = now.slice(start, now.length - tail);
  return [...shown('-', removed, added), ...shown('+', added, removed)];
}

const listLines = (text: string): string[] => (text === '' ? [] : text.split('\n'));

function commonLength<T>(one: ArrayLike<T>, other: ArrayLike<T>): number {
  let length = 0;
  while (length < Math.min(one.length, other.length) && one[length] === other[length]) length += 1;
  return length;
}

function shown(sign: string, lines: readonly string[], others: readonly string[]): string[] {
  const left = lines.length - shownLines;
  const kept = lines
    .slice(0, shownLines)
    .map((line, index) => (line === '' ? sign : `${sign} ${toWindow(line, others[index] ?? '')}`));
  return left > 0 ? [...kept, `${sign} … ${left} more lines`] : kept;
}

function toWindow(line: string, other: string): string {
  if (line.length <= shownCharacters) return line;
  const from = Math.max(0, Math.min(commonLength(line, other) - lead, line.length - shownCharacters));
  const to = from + shownCharacters;
  return `${from > 0 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`;
}
