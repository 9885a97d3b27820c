/** A line of two texts that are compared. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Larger middles are shown as replaced, because finding what they share takes their product in time and memory. */
const mostPairs = 4_000_000;

/** What has to be removed from and added to the lines of one text to get the other; as little as possible. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  const start = sharedLength(a, b);
  const end = sharedLength(a.slice(start).toReversed(), b.slice(start).toReversed());
  return [
    ...linesAs('same', a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...linesAs('same', a.slice(a.length - end)),
  ];
}

/** The end of the last line is not a line of its own. */
const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

const linesAs = (kind: DiffLine['kind'], lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind, text }));

function sharedLength(a: readonly string[], b: readonly string[]): number {
  const first = a.findIndex((line, index) => line !== b[index]);
  return first === -1 ? Math.min(a.length, b.length) : Math.min(first, b.length);
}

function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  if (a.length * b.length > mostPairs) return [...linesAs('removed', a), ...linesAs('added', b)];
  const width = b.length + 1;
  const lengths = commonLengths(a, b, width);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] ?? '' });
      i++;
      j++;
    } else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) {
      lines.push({ kind: 'removed', text: a[i++] ?? '' });
    } else {
      lines.push({ kind: 'added', text: b[j++] ?? '' });
    }
  }
  return [...lines, ...linesAs('removed', a.slice(i)), ...linesAs('added', b.slice(j))];
}

/** At `i * width + j`: how many lines the rests of both from there have in common, in order. */
function commonLengths(a: readonly string[], b: readonly string[], width: number): Uint32Array {
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const here = i * width + j;
      const [below, beside] = [lengths[here + width] ?? 0, lengths[here + 1] ?? 0];
      lengths[here] = a[i] === b[j] ? (lengths[here + width + 1] ?? 0) + 1 : Math.max(below, beside);
    }
  }
  return lengths;
}

/** Some lines in a row that are shown, after a number of lines that are the same and left out. */
export interface Hunk {
  readonly skipped: number;
  readonly lines: readonly DiffLine[];
}

/** Changes, with a few lines around them. */
export function hunksOf(lines: readonly DiffLine[], around = 3): Hunk[] {
  const isNear = lines.map(() => false);
  lines.forEach(({ kind }, index) => {
    if (kind !== 'same') isNear.fill(true, Math.max(0, index - around), index + around + 1);
  });
  const hunks: { skipped: number; lines: DiffLine[] }[] = [];
  let skipped = 0;
  lines.forEach((line, index) => {
    if (isNear[index] !== true) {
      skipped++;
      return;
    }
    if (skipped > 0 || hunks.length === 0) hunks.push({ skipped, lines: [] });
    hunks.at(-1)?.lines.push(line);
    skipped = 0;
  });
  return hunks;
}
