import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../clock';
import type { MeasuredSystem } from '../measured-system';
import { Clients } from '../clients';
import type { Exchange } from '../model/exchange';
import { ordinary } from '../model/plan';
import { spentPer, sumOf } from './cpu-spent';
import type { Comparison, Findings, MeasureContext } from './measure';

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

/** Full load: more runs than one core can serve, each with nine tool turns and an answer. */
async function measure(system: MeasuredSystem, { model, scale }: MeasureContext): Promise<Findings> {
  const clients = new Clients(scale.clients, () => system.runTask({ plan: ordinary }));
  await sleep(scale.seconds * 250);

  await model.ask('report');
  const [before, since] = [system.cpuMs(), nowMs()];
  const exchanges: Exchange[] = [];
  do {
    await sleep(scale.seconds * 1000);
    exchanges.push(...(await model.ask('report')).exchanges);
  } while (exchanges.length === 0);
  const [after, seconds] = [system.cpuMs(), (nowMs() - since) / 1000];

  await clients.stop();
  const spent = spentPer(exchanges.length, before, after);
  return {
    cpu: sumOf(spent),
    rate: exchanges.length / seconds,
    ...Object.fromEntries(Object.entries(spent).map(([name, ms]) => [`CPU of ${name}, ms`, ms])),
  };
}

export const turns: Comparison = { name: 'turns', figures, measure };
