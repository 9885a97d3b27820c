import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../clock';
import type { SubmittedRun } from '../measured-system';
import { ordinary } from '../model/plan';
import type { RondoSystem } from '../rondo-system';
import { percentile } from '../statistics';
import type { Figure, Findings, Trial, TrialContext } from './measure';

const toolTimesMs = [0, 200];

const listFigures = (toolMs: number): Figure[] => [
  { key: `recovered ${toolMs}`, title: `runs recovered, tools of ${toolMs} ms`, unit: '%', bounds: 'value', better: 'more', must: 100, goal: 100 }, // prettier-ignore
  {
    key: `first ${toolMs}`,
    title: `first run goes on, tools of ${toolMs} ms`,
    unit: 's',
    bounds: 'value',
    better: 'less',
  },
  { key: `last ${toolMs}`, title: `last run goes on, tools of ${toolMs} ms`, unit: 's', bounds: 'value', better: 'less', must: 20, goal: 3 }, // prettier-ignore
  { key: `doubled ${toolMs}`, title: `effects doubled, tools of ${toolMs} ms`, unit: '', bounds: 'value', better: 'less', must: 0, goal: 0 }, // prettier-ignore
];

/** kill -9 of the worker with runs in progress; it is restarted at once, as a supervisor would. */
async function run(rondo: RondoSystem, context: TrialContext): Promise<Findings> {
  const findings: Findings[] = [];
  for (const toolMs of toolTimesMs) findings.push(await kill(rondo, { toolMs, ...context }));
  return Object.assign({}, ...findings) as Findings;
}

async function kill(
  rondo: RondoSystem,
  { model, scale, onSystemCore, toolMs }: TrialContext & { toolMs: number },
): Promise<Findings> {
  await model.ask('report'); // discards the exchanges of earlier measures
  const plan = { ...ordinary, toolTurns: 6, delayMs: 150, tool: 'execute_command' as const, toolMs };
  const runs = Array.from({ length: scale.runsInFlight }, () => rondo.runTask({ plan }).catch(() => undefined));
  while ((await model.ask('report')).exchanges.every(({ turn }) => turn < 2)) await sleep(20);

  const killedMs = nowMs();
  await onSystemCore(() => killAndAwaitNext(rondo.deployment.services.get('agent-worker')));
  const outcomes = await Promise.all(runs);
  const { exchanges } = await model.ask('report');
  const performed = outcomes.filter((outcome): outcome is SubmittedRun => outcome !== undefined);
  const resumed = performed.flatMap(({ tag }) => {
    const next = exchanges.find((exchange) => exchange.tag === tag && exchange.arrivedMs > killedMs);
    return next ? (next.arrivedMs - killedMs) / 1000 : [];
  });
  return {
    [`recovered ${toolMs}`]: (100 * performed.length) / scale.runsInFlight,
    [`first ${toolMs}`]: percentile(resumed, 0),
    [`last ${toolMs}`]: percentile(resumed, 100),
    [`doubled ${toolMs}`]: countDoubledEffects(rondo.deployment.directory, new Set(performed.map(({ tag }) => tag))),
    [`turns paid again, tools of ${toolMs} ms`]: paidAgain(exchanges.map(({ tag, turn }) => `${tag} ${turn}`)),
  };
}

/** Resolves when the next process has started, about a second before it is ready. */
async function killAndAwaitNext(worker: { readonly pid: number | undefined; kill(): Promise<void> }): Promise<void> {
  await worker.kill();
  while (worker.pid === undefined) await sleep(10);
}

const paidAgain = (turns: readonly string[]): number => turns.length - new Set(turns).size;

/** Each command of each run writes one distinct line. */
function countDoubledEffects(directory: string, tags: ReadonlySet<string>): number {
  const all = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const files = all.filter((file) => file.endsWith('/effects'));
  const lines = files.flatMap((file) => readFileSync(join(directory, file), 'utf8').trim().split('\n'));
  const ours = lines.filter((line) => tags.has(line.split('-')[0] ?? ''));
  if (ours.length === 0) throw new Error('the commands had no effect that could be counted');
  return ours.length - new Set(ours).size;
}

export const recovery: Trial = { name: 'recovery', figures: toolTimesMs.flatMap(listFigures), needs: {}, run };
