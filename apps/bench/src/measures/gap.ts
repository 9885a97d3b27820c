import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../clock';
import type { Contender } from '../contender';
import { Crowd } from '../crowd';
import { type Exchange, gapsMs } from '../model/exchange';
import { ordinary } from '../model/plan';
import { percentile } from '../statistics';
import type { Comparison, Findings, Surroundings } from './measure';

const less = { unit: 'ms', bounds: 'ratio', better: 'less' } as const;

const figures: Comparison['figures'] = [
  { key: 'light p50', title: 'gap between turns, 2 runs, p50', ...less, must: 3, goal: 2 },
  { key: 'light p99', title: 'gap between turns, 2 runs, p99', ...less },
  { key: 'crowd p50', title: 'gap between turns, many runs, p50', ...less, must: 2, goal: 1 },
  { key: 'crowd p99', title: 'gap between turns, many runs, p99', ...less },
  { key: 'crowd run p50', title: 'a whole run of these, submission to end, p50', ...less },
];

/**
 * What an iteration takes beyond the model, seen by the model: from the end of an answer to the run's next request. Beside
 * it stands what a client sees of the same runs: gaps could be made shorter at the cost of the runs, by letting many begin
 * late.
 */
async function slice(contender: Contender, surroundings: Surroundings): Promise<Findings> {
  const light = await look(contender, { ...surroundings, runs: 2 });
  const crowd = await look(contender, { ...surroundings, runs: surroundings.scale.crowd });
  return {
    'light p50': percentile(light.gaps, 50),
    'light p99': percentile(light.gaps, 99),
    'crowd p50': percentile(crowd.gaps, 50),
    'crowd p99': percentile(crowd.gaps, 99),
    'crowd run p50': percentile(crowd.runs, 50),
  };
}

/** In milliseconds: what lay between the turns, and how long whole runs took from submission to their end. */
interface Sight {
  readonly gaps: readonly number[];
  readonly runs: readonly number[];
}

async function look(contender: Contender, { model, scale, runs }: Surroundings & { runs: number }): Promise<Sight> {
  const took: number[] = [];
  const crowd = new Crowd(runs, async () => {
    const { submittedMs } = await contender.perform({ plan: { ...ordinary, delayMs: 20 } });
    took.push(nowMs() - submittedMs);
  });
  await sleep(scale.seconds * 250);
  await model.ask('report');
  took.length = 0;
  const exchanges: Exchange[] = [];
  do {
    await sleep(scale.seconds * 1000);
    exchanges.push(...(await model.ask('report')).exchanges);
  } while (gapsMs(exchanges).length === 0 || took.length === 0);
  const seen = { gaps: gapsMs(exchanges), runs: [...took] };
  await crowd.leave();
  return seen;
}

export const gap: Comparison = { name: 'gap', figures, slice };
