import type { Fact } from '@rondo/test-deployment';
import { type Experiment, toFindings } from '../experiment';
import { serverOutages } from '../faults/server-outage';
import { atLeast } from '../scorecard/findings';
import { findSpread } from '../scorecard/spread';
import { examine } from '../test-bed/examine';
import { firstFactAfter } from '../test-bed/takeovers';
import { runUnderFault, requestsUntil } from '../test-bed/start-runs';
import { stepsOfTwo } from '../test-bed/run-requests';

const sizes = {
  full: { runs: 100, iterations: 10, atOnce: 20, pauseMs: [5_000, 10_000], outages: 5 },
  small: { runs: 8, iterations: 4, atOnce: 8, pauseMs: [5_000, 7_000], outages: 1 },
} as const;

export const postgres: Experiment = {
  name: 'postgres',
  title:
    'Postgres is killed with SIGKILL again and again, and is down for 0 to 2 s each time, until every run is over.',

  async run(testBed, scale) {
    const { runs: count, iterations, atOnce, pauseMs, outages } = sizes[scale.name];
    const isEnough = () => testBed.faults.faults.length >= outages;
    const requests = requestsUntil({ about: 'postgres', count, isEnough }, (tag) =>
      stepsOfTwo(testBed.effects, { tag, iterations }),
    );
    const runs = await runUnderFault(testBed, { requests, atOnce, quietMs: scale.quietMs }, (until) =>
      serverOutages(testBed, 'postgres', { pauseMs, downMs: [0, 2_000], until }),
    );
    const examination = await examine(testBed, runs);
    const outagesAt = testBed.faults.times('kill -9', 'postgres');
    const standstills = examination.runs.flatMap(({ facts }) => listStandstills(facts, outagesAt));
    return toFindings(testBed, examination, {
      times: { 'from an outage to the next fact': findSpread(standstills) },
      size: `${runs.length} runs × ${iterations} iterations × 2 calls, ${atOnce} at once, killed every ${pauseMs[0] / 1_000} to ${pauseMs[1] / 1_000} s`,
      bars: [atLeast('outages', { seen: testBed.faults.faults.length, wanted: outages })],
    });
  },
};

/** For each run in progress when the database was killed: the time until its next fact. */
const listStandstills = (facts: readonly Fact[], outagesAt: readonly number[]): number[] =>
  outagesAt.filter((at) => Date.parse(facts[0]?.at ?? '') < at).flatMap((at) => firstFactAfter(facts, at));
