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

export interface Scorecard {
  readonly date: string;
  readonly commit: string;
  readonly command: string;
  readonly scale: string;
  readonly machine: Machine;
  readonly results: readonly Result[];
}

export const missedIn = ({ findings, error }: Result): readonly string[] =>
  error === undefined ? (findings?.bars ?? []).filter(({ met }) => !met).map(({ what }) => what) : ['did not end'];

export const allMet = ({ results }: Scorecard): boolean => results.every((result) => missedIn(result).length === 0);
