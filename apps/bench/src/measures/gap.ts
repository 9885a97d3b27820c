import { setTimeout as sleep } from 'node:timers/promises';
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
];

/** What an iteration takes beyond the model, seen by the model: from the end of its answer to the run's next request. */
async function slice(contender: Contender, surroundings: Surroundings): Promise<Findings> {
  const light = await gaps(contender, { ...surroundings, runs: 2 });
  const crowd = await gaps(contender, { ...surroundings, runs: surroundings.scale.crowd });
  return {
    'light p50': percentile(light, 50),
    'light p99': percentile(light, 99),
    'crowd p50': percentile(crowd, 50),
    'crowd p99': percentile(crowd, 99),
  };
}

async function gaps(contender: Contender, { model, scale, runs }: Surroundings & { runs: number }): Promise<number[]> {
  const crowd = new Crowd(runs, () => contender.perform({ plan: { ...ordinary, delayMs: 20 } }));
  await sleep(scale.seconds * 250);
  await model.ask('report');
  const exchanges: Exchange[] = [];
  do {
    await sleep(scale.seconds * 1000);
    exchanges.push(...(await model.ask('report')).exchanges);
  } while (gapsMs(exchanges).length === 0);
  await crowd.leave();
  return gapsMs(exchanges);
}

export const gap: Comparison = { name: 'gap', figures, slice };
