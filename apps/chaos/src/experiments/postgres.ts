import type { Fact } from '@rondo/test-deployment';
import { type Experiment, findingsOf } from '../experiment';
import { serverOutages } from '../faults/server-outage';
import { atLeast } from '../scorecard/findings';
import { spreadOf } from '../scorecard/spread';
import { examine } from '../stage/examine';
import { firstFactAfter } from '../stage/first-fact-after';
import { runThrough } from '../stage/run-through';
import { untilEnough } from '../stage/run-work';
import { stepsOfTwo } from '../stage/work';

const sizes = {
  full: { runs: 100, iterations: 10, atOnce: 20, pauseMs: [5_000, 10_000], outages: 5 },
  small: { runs: 8, iterations: 4, atOnce: 8, pauseMs: [5_000, 7_000], outages: 1 },
} as const;

export const postgres: Experiment = {
  name: 'postgres',
  title:
    'Postgres is killed with SIGKILL again and again, and is down for 0 to 2 s each time, until every run is over.',

  async run(stage, scale) {
    const { runs: count, iterations, atOnce, pauseMs, outages } = sizes[scale.name];
    const isEnough = () => stage.faults.faults.length >= outages;
    const works = untilEnough({ about: 'postgres', count, isEnough }, (tag) =>
      stepsOfTwo(stage.effects, { tag, iterations }),
    );
    const runs = await runThrough(stage, { works, atOnce, quietMs: scale.quietMs }, (until) =>
      serverOutages(stage, 'postgres', { pauseMs, downMs: [0, 2_000], until }),
    );
    const examination = await examine(stage, runs);
    const outagesAt = stage.faults.times('kill -9', 'postgres');
    const standstills = examination.runs.flatMap(({ facts }) => standstillsOf(facts, outagesAt));
    return findingsOf(stage, examination, {
      times: { 'from an outage to the next fact': spreadOf(standstills) },
      size: `${runs.length} runs × ${iterations} iterations × 2 calls, ${atOnce} at once, killed every ${pauseMs[0] / 1_000} to ${pauseMs[1] / 1_000} s`,
      bars: [atLeast('outages', { seen: stage.faults.faults.length, wanted: outages })],
    });
  },
};

/** Of a run that was under way when the database went away: how long it said nothing. */
const standstillsOf = (facts: readonly Fact[], outagesAt: readonly number[]): number[] =>
  outagesAt.filter((at) => Date.parse(facts[0]?.at ?? '') < at).flatMap((at) => firstFactAfter(facts, at));
