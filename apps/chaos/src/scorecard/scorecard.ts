import type { Findings } from './findings';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memory_gib: number;
  readonly node: string;
  readonly os: string;
}

/** An experiment that failed to complete has an error instead of findings. */
export interface Result {
  readonly name: string;
  readonly title: string;
  readonly seconds: number;
  readonly findings?: Findings;
  readonly error?: string;
}

/** What was measured, with which commit, and when it ended. */
export interface Measured {
  readonly date: string;
  readonly commit: string;
  readonly machine: Machine;
}

export interface Scorecard {
  readonly scale: string;
  readonly results: readonly (Result & Measured)[];
}

/** An experiment that was done again replaces what it has found before; the others stay. In the order of `names`. */
export function renew(before: Scorecard | undefined, now: Scorecard, names: readonly string[]): Scorecard {
  const kept = before?.scale === now.scale ? before.results : [];
  const latest = new Map([...kept, ...now.results].map((result) => [result.name, result]));
  return { scale: now.scale, results: names.flatMap((name) => latest.get(name) ?? []) };
}

export const listMissed = ({ findings, error }: Result): readonly string[] =>
  error === undefined ? (findings?.bars ?? []).filter(({ met }) => !met).map(({ what }) => what) : ['did not end'];

export const allMet = (results: readonly Result[]): boolean =>
  results.every((result) => listMissed(result).length === 0);
