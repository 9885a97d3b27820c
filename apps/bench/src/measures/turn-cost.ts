import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../clock';
import type { Contender } from '../contender';
import { Crowd } from '../crowd';
import type { Exchange } from '../model/exchange';
import { ordinary } from '../model/plan';
import { spentPer, sumOf } from './cpu-spent';
import type { Comparison, Findings, Surroundings } from './measure';

const figures: Comparison['figures'] = [
  { key: 'cpu', title: 'CPU per turn', unit: 'ms', bounds: 'ratio', better: 'less', must: 2, goal: 1 },
  {
    key: 'rate',
    title: 'turns per second on one core',
    unit: '/s',
    bounds: 'ratio',
    better: 'more',
    must: 0.6,
    goal: 1,
  },
];

/** Saturation: more runs than the core can carry, nine tool turns and an answer each. */
async function slice(contender: Contender, { model, scale }: Surroundings): Promise<Findings> {
  const crowd = new Crowd(scale.crowd, () => contender.perform({ plan: ordinary }));
  await sleep(scale.seconds * 250);

  await model.ask('report');
  const [before, since] = [contender.cpuMs(), nowMs()];
  const exchanges: Exchange[] = [];
  do {
    await sleep(scale.seconds * 1000);
    exchanges.push(...(await model.ask('report')).exchanges);
  } while (exchanges.length === 0);
  const [after, seconds] = [contender.cpuMs(), (nowMs() - since) / 1000];

  await crowd.leave();
  const spent = spentPer(exchanges.length, before, after);
  return {
    cpu: sumOf(spent),
    rate: exchanges.length / seconds,
    ...Object.fromEntries(Object.entries(spent).map(([name, ms]) => [`CPU of ${name}, ms`, ms])),
  };
}

export const turns: Comparison = { name: 'turns', figures, slice };
