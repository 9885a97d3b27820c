/** A part of two sequences that are compared. */
export interface Change {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Larger middles are shown as replaced, because finding what they share takes their product in time and memory. */
const mostPairs = 4_000_000;

/** What has to be removed from and added to one sequence to get the other; as little as possible. */
export function sequenceDiff(a: readonly string[], b: readonly string[]): Change[] {
  const start = countShared(a, b);
  const end = countShared(a.slice(start).toReversed(), b.slice(start).toReversed());
  return [
    ...partsAs('same', a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...partsAs('same', a.slice(a.length - end)),
  ];
}

const partsAs = (kind: Change['kind'], parts: readonly string[]): Change[] => parts.map((text) => ({ kind, text }));

function countShared(a: readonly string[], b: readonly string[]): number {
  const first = a.findIndex((part, index) => part !== b[index]);
  return first === -1 ? Math.min(a.length, b.length) : Math.min(first, b.length);
}

function middle(a: readonly string[], b: readonly string[]): Change[] {
  if (a.length * b.length > mostPairs) return [...partsAs('removed', a), ...partsAs('added', b)];
  const width = b.length + 1;
  const lengths = commonLengths(a, b, width);
  const changes: Change[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      changes.push({ kind: 'same', text: a[i] ?? '' });
      i++;
      j++;
    } else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) {
      changes.push({ kind: 'removed', text: a[i++] ?? '' });
    } else {
      changes.push({ kind: 'added', text: b[j++] ?? '' });
    }
  }
  return [...changes, ...partsAs('removed', a.slice(i)), ...partsAs('added', b.slice(j))];
}

/** At `i * width + j`: how many parts the rests of both from there have in common, in order. */
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
