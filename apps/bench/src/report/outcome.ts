import type { Figure } from '../measures/measure';
import type { Round } from '../rounds';
import { type Spread, toSpread } from '../statistics';

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

function toOutcome(measure: string, figure: Figure, rounds: readonly Round[]): Outcome {
  const { key, ...described } = figure;
  const of = (findings: Round['rondo'] | undefined) => findings?.[key] ?? NaN;
  const isCompared = rounds.some(({ bare }) => bare !== undefined);
  return {
    measure,
    ...described,
    rondo: toSpread(rounds.map(({ rondo }) => of(rondo))),
    ...(isCompared && {
      bare: toSpread(rounds.map(({ bare }) => of(bare))),
      ratio: toSpread(rounds.map(({ rondo, bare }) => of(rondo) / of(bare))),
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

export function toTaken(
  { name, figures }: { name: string; figures: readonly Figure[] },
  rounds: readonly Round[],
): Taken {
  const shown = new Set(figures.map(({ key }) => key));
  const explaining = Object.keys(rounds[0]?.rondo ?? {}).filter((key) => !shown.has(key));
  const computeMedian = (key: string) => toSpread(rounds.map(({ rondo }) => rondo[key] ?? NaN)).median;
  return {
    measure: name,
    outcomes: figures.map((figure) => toOutcome(name, figure, rounds)),
    explanations: Object.fromEntries(explaining.map((key) => [key, computeMedian(key)])),
  };
}

export function meets({ better, bounds, rondo, ratio }: Outcome, bound: number): boolean {
  const value = (bounds === 'ratio' ? ratio : rondo)?.median ?? NaN;
  return better === 'less' ? value <= bound : value >= bound;
}
