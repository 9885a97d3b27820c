import type { RunRow } from '@rondo/client';

/** What two runs did in the iteration with the same number. */
export interface AlignedIteration {
  /** 0: what was there before the first one. */
  readonly number: number;
  readonly a: readonly RunRow[];
  readonly b: readonly RunRow[];
  readonly difference: 'same' | 'calls' | 'words' | 'only a' | 'only b';
}

/** Two runs, iteration by iteration. */
export function alignIterations(a: readonly RunRow[], b: readonly RunRow[]): AlignedIteration[] {
  const [ofA, ofB] = [byIteration(a), byIteration(b)];
  const numbers = [...new Set([...ofA.keys(), ...ofB.keys()])].toSorted((one, other) => one - other);
  return numbers.map((number) => {
    const [rowsA, rowsB] = [ofA.get(number) ?? [], ofB.get(number) ?? []];
    return { number, a: rowsA, b: rowsB, difference: toDifference(rowsA, rowsB) };
  });
}

function byIteration(rows: readonly RunRow[]): ReadonlyMap<number, RunRow[]> {
  const groups = new Map<number, RunRow[]>();
  for (const row of rows) {
    if (row.kind === 'message' && (row.role === 'browser_state' || row.role === 'image_context')) continue; // shown with the run itself
    const group = groups.get(row.iteration);
    if (group) group.push(row);
    else groups.set(row.iteration, [row]);
  }
  return groups;
}

/** Calls that differ matter more than words, because calls have effects. */
function toDifference(a: readonly RunRow[], b: readonly RunRow[]): AlignedIteration['difference'] {
  if (b.length === 0) return 'only a';
  if (a.length === 0) return 'only b';
  if (toCalls(a) !== toCalls(b)) return 'calls';
  return toWords(a) === toWords(b) ? 'same' : 'words';
}

const toCalls = (rows: readonly RunRow[]): string =>
  JSON.stringify(rows.flatMap((row) => (row.kind === 'tool_call' ? [[row.name, row.arguments]] : [])));
const toWords = (rows: readonly RunRow[]): string =>
  JSON.stringify(rows.flatMap((row) => (row.kind === 'message' ? [[row.role, row.text]] : [])));
