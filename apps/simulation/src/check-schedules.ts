import fc from 'fast-check';
import { type Schedule, anySchedule } from './schedule';
import { type Figures, type Outcome, World, type WorldParts } from './world';

export interface Search {
  readonly schedules: number;
  readonly seed: number;
  /** The path of a reported failure, to reproduce it. */
  readonly path?: string | undefined;
  readonly parts?: WorldParts;
  /** Do not shrink the first failure. */
  readonly asFound?: boolean;
}

export interface SearchReport {
  /** The number of worlds up to the first failure, or of all worlds. */
  readonly searched: number;
  readonly figures: Figures;
  /** The number of runs by the way in which they ended. */
  readonly ends: Readonly<Record<string, number>>;
  readonly failure: Failure | undefined;
}

export interface Failure {
  readonly seed: number;
  readonly path: string;
  /** The smallest failing schedule that was found: runs and faults are removed, times reduced. */
  readonly schedule: Schedule;
  readonly outcome: Outcome;
}

/** Runs worlds with random schedules until one breaks a rule, and shrinks that schedule. */
export async function checkSchedules({ schedules, seed, path, parts, asFound = false }: Search): Promise<SearchReport> {
  const sums: Record<keyof Figures, number> = { ...noFigures };
  const ends: Record<string, number> = {};
  let isSearching = true;
  let searched = 0;

  const holds = async (schedule: Schedule): Promise<boolean> => {
    const outcome = await new World(schedule, parts).run();
    if (isSearching) {
      searched += 1;
      for (const key of figureNames) sums[key] += outcome.figures[key];
      for (const end of outcome.ends) ends[end] = (ends[end] ?? 0) + 1;
    }
    isSearching = outcome.violations.length === 0 && isSearching;
    return outcome.violations.length === 0;
  };
  const details = await fc.check(fc.asyncProperty(anySchedule, holds), {
    numRuns: schedules,
    seed,
    endOnFailure: asFound,
    ...(path !== undefined && { path }),
  });
  return { searched, figures: sums, ends, failure: await findFailure(details, seed, parts) };
}

async function findFailure(
  { counterexample, counterexamplePath }: fc.RunDetails<[Schedule]>,
  seed: number,
  parts: WorldParts | undefined,
): Promise<Failure | undefined> {
  if (!counterexample) return undefined;
  const [schedule] = counterexample;
  return { seed, path: counterexamplePath, schedule, outcome: await new World(schedule, parts).run() };
}

/** What failed, and how to reproduce it. */
export const describeFailure = ({ seed, path, schedule, outcome }: Failure): string =>
  [
    ...outcome.journal,
    '',
    `Runs: ${JSON.stringify(schedule.runs)}`,
    ...schedule.faults.map((fault) => `Fault: ${JSON.stringify(fault)}`),
    ...outcome.violations.map((violation) => `Broken: ${violation}`),
    '',
    `npm run simulate -- --seed ${seed} --path ${path}`,
  ].join('\n');

const noFigures: Figures = {
  steps: 0,
  virtualMs: 0,
  faultsStruck: 0,
  refusedWrites: 0,
  modelCalls: 0,
  effects: 0,
};
const figureNames = Object.keys(noFigures) as (keyof Figures)[]; // the keys of the literal above
