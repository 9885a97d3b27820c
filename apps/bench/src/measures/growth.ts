import type { MeasuredSystem } from '../measured-system';
import { type Plan, ordinary } from '../model/plan';
import { computeSum } from '../machine/process-usage';
import type { Comparison, Findings, ModelProcess, MeasureContext } from './measure';

const figures: Comparison['figures'] = [
  {
    key: 'growth',
    title: 'cost of an iteration, long history over short, over the growth of the text',
    unit: '×',
    bounds: 'value',
    better: 'less',
    must: 1.2,
  },
];

const longestRun = 450; // a run has at most 500 iterations, so a long history takes several
const perTask = 20;

interface Cost {
  readonly cpuMs: number;
  readonly bytes: number;
}

/** The cost of an iteration after histories of different lengths on the same thread. */
async function measure(system: MeasuredSystem, { model, scale }: MeasureContext): Promise<Findings> {
  const costs = new Map<number, Cost>();
  for (const history of scale.histories) {
    const threads = Math.max(1, Math.round(scale.grownIterations / history));
    costs.set(history, await costAfter(history, { system, model, threads }));
  }
  const [first, last] = [costs.get(scale.histories[0]), [...costs.values()].at(-1)];
  if (!first || !last) throw new Error('no history was measured');
  return {
    growth: last.cpuMs / first.cpuMs / (last.bytes / first.bytes),
    ...Object.fromEntries(
      [...costs].flatMap(([history, { cpuMs, bytes }]) => [
        [`CPU of an iteration after ${history}, ms`, cpuMs],
        [`request after ${history}, kB`, bytes / 1000],
      ]),
    ),
  };
}

interface GrowthSetup {
  readonly system: MeasuredSystem;
  readonly model: ModelProcess;
  readonly threads: number;
}

async function costAfter(history: number, { system, model, threads }: GrowthSetup): Promise<Cost> {
  const old = await Promise.all(Array.from({ length: threads }, () => grow(system, history)));
  await model.ask('report');
  const before = computeSum(system.cpuMs());
  await Promise.all(old.map((threadId) => system.runTask({ plan: toPlan(perTask), threadId })));
  const spentMs = computeSum(system.cpuMs()) - before;
  const { exchanges } = await model.ask('report');
  const bytes = exchanges.reduce((sum, exchange) => sum + exchange.bytes, 0);
  return { cpuMs: spentMs / exchanges.length, bytes: bytes / exchanges.length };
}

/** Creates a conversation of `history` iterations and returns its thread. */
async function grow(system: MeasuredSystem, history: number): Promise<string> {
  let threadId: string | undefined;
  for (let left = history; left > 0; left -= longestRun) {
    const plan = toPlan(Math.min(left, longestRun));
    const done = await system.runTask({ plan, keep: true, ...(threadId !== undefined && { threadId }) });
    threadId = done.threadId;
  }
  return threadId ?? '';
}

/** The last iteration answers without a tool call. */
const toPlan = (iterations: number): Plan => ({ ...ordinary, toolTurns: iterations - 1, tokens: 8 });

export const growth: Comparison = { name: 'growth', figures, measure };
