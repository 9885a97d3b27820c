import type { Figure } from '../measures/measure';
import type { Round } from '../rounds';
import { type Spread, spreadOf } from '../statistics';

export interface Outcome {
  readonly measure: string;
  readonly title: string;
  readonly unit: string;
  readonly rondo: Spread;
  readonly bare?: Spread;
  /** Computed within each round. */
  readonly ratio?: Spread;
  readonly must?: number;
  readonly goal?: number;
  readonly better: Figure['better'];
  readonly bounds: Figure['bounds'];
}

function outcomeOf(measure: string, figure: Figure, rounds: readonly Round[]): Outcome {
  const { key, ...described } = figure;
  const of = (findings: Round['rondo'] | undefined) => findings?.[key] ?? NaN;
  const isCompared = rounds.some(({ bare }) => bare !== undefined);
  return {
    measure,
    ...described,
    rondo: spreadOf(rounds.map(({ rondo }) => of(rondo))),
    ...(isCompared && {
      bare: spreadOf(rounds.map(({ bare }) => of(bare))),
      ratio: spreadOf(rounds.map(({ rondo, bare }) => of(rondo) / of(bare))),
    }),
  };
}

/** A measure with its results. */
export interface Taken {
  readonly measure: string;
  readonly outcomes: readonly Outcome[];
  /** Medians of the findings that are not figures but explain them. */
  readonly explanations: Readonly<Record<string, number>>;
}

export function takenOf(
  { name, figures }: { name: string; figures: readonly Figure[] },
  rounds: readonly Round[],
): Taken {
  const shown = new Set(figures.map(({ key }) => key));
  const explaining = Object.keys(rounds[0]?.rondo ?? {}).filter((key) => !shown.has(key));
  const medianOf = (key: string) => spreadOf(rounds.map(({ rondo }) => rondo[key] ?? NaN)).median;
  return {
    measure: name,
    outcomes: figures.map((figure) => outcomeOf(name, figure, rounds)),
    explanations: Object.fromEntries(explaining.map((key) => [key, medianOf(key)])),
  };
}

export function meets({ better, bounds, rondo, ratio }: Outcome, bound: number): boolean {
  const value = (bounds === 'ratio' ? ratio : rondo)?.median ?? NaN;
  return better === 'less' ? value <= bound : value >= bound;
}
