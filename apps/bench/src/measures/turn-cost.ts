import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../clock';
import type { MeasuredSystem } from '../measured-system';
import { Clients } from '../clients';
import type { Exchange } from '../model/exchange';
import { type Plan, ordinary } from '../model/plan';
import { toSpentPer, computeSum } from '../machine/process-usage';
import type { Comparison, Findings, MeasureContext } from './measure';

const less = { unit: 'ms', bounds: 'ratio', better: 'less' } as const;

interface Load {
  readonly plan: Plan;
  readonly clients: number;
}

/** What a system spent on requests to the model, each of which is a turn. */
interface Spending {
  /** CPU time of each process per turn, in milliseconds. */
  readonly perTurn: Readonly<Record<string, number>>;
  readonly turnsPerSecond: number;
}

async function measureSpending(
  system: MeasuredSystem,
  { plan, clients: size }: Load,
  { model, scale }: MeasureContext,
): Promise<Spending> {
  const clients = new Clients(size, () => system.runTask({ plan }));
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
  return { perTurn: toSpentPer(exchanges.length, before, after), turnsPerSecond: exchanges.length / seconds };
}

const toFindings = ({ perTurn }: Spending): Findings => ({
  cpu: computeSum(perTurn),
  ...Object.fromEntries(Object.entries(perTurn).map(([name, ms]) => [`CPU of ${name}, ms`, ms])),
});

/** Full load: more runs than one core can serve, each with nine tool turns and an answer. */
export const turns: Comparison = {
  name: 'turns',
  figures: [
    { key: 'cpu', title: 'CPU per turn', ...less, must: 2, goal: 1 },
    {
      key: 'rate',
      title: 'turns per second on one core',
      unit: '/s',
      bounds: 'ratio',
      better: 'more',
      must: 0.6,
      goal: 1,
    },
  ],
  measure: async (system, context) => {
    const spending = await measureSpending(system, { plan: ordinary, clients: context.scale.clients }, context);
    return { ...toFindings(spending), rate: spending.turnsPerSecond };
  },
};

/** The same runs, two at a time, with a model that takes 20 ms: nothing shares a batch, and processes sleep in between. */
export const light: Comparison = {
  name: 'light',
  figures: [{ key: 'cpu', title: 'CPU per turn, 2 runs', ...less, must: 4, goal: 2.5 }],
  measure: async (system, context) =>
    toFindings(await measureSpending(system, { plan: { ...ordinary, delayMs: 20 }, clients: 2 }, context)),
};

/** Runs of one answer, two at a time: what a run costs beside its tool turns. */
export const runCost: Comparison = {
  name: 'run-cost',
  figures: [{ key: 'cpu', title: 'CPU of a run of one turn, 2 runs', ...less, must: 4, goal: 2.5 }],
  measure: async (system, context) => {
    const plan = { ...ordinary, toolTurns: 0, delayMs: 20 };
    return toFindings(await measureSpending(system, { plan, clients: 2 }, context));
  },
};
