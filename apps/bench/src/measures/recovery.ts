import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../clock';
import type { Performance } from '../contender';
import { ordinary } from '../model/plan';
import type { RondoContender } from '../rondo-contender';
import { percentile } from '../statistics';
import type { Figure, Findings, Trial, TrialSurroundings } from './measure';

const toolTimesMs = [0, 200];

const figuresOf = (toolMs: number): Figure[] => [
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

/** kill -9 of the worker with runs in flight; it is started again at once, as by any supervisor. */
async function run(rondo: RondoContender, surroundings: TrialSurroundings): Promise<Findings> {
  const findings: Findings[] = [];
  for (const toolMs of toolTimesMs) findings.push(await kill(rondo, { toolMs, ...surroundings }));
  return Object.assign({}, ...findings) as Findings;
}

async function kill(
  rondo: RondoContender,
  { model, scale, onSystemCore, toolMs }: TrialSurroundings & { toolMs: number },
): Promise<Findings> {
  await model.ask('report'); // what the measures before this one left there
  const plan = { ...ordinary, toolTurns: 6, delayMs: 150, tool: 'execute_command' as const, toolMs };
  const runs = Array.from({ length: scale.runsInFlight }, () => rondo.perform({ plan }).catch(() => undefined));
  while ((await model.ask('report')).exchanges.every(({ turn }) => turn < 2)) await sleep(20);

  const killedMs = nowMs();
  await onSystemCore(() => killAndAwaitNext(rondo.deployment.services.get('agent-worker')));
  const outcomes = await Promise.all(runs);
  const { exchanges } = await model.ask('report');
  const performed = outcomes.filter((outcome): outcome is Performance => outcome !== undefined);
  const resumed = performed.flatMap(({ tag }) => {
    const next = exchanges.find((exchange) => exchange.tag === tag && exchange.arrivedMs > killedMs);
    return next ? (next.arrivedMs - killedMs) / 1000 : [];
  });
  return {
    [`recovered ${toolMs}`]: (100 * performed.length) / scale.runsInFlight,
    [`first ${toolMs}`]: percentile(resumed, 0),
    [`last ${toolMs}`]: percentile(resumed, 100),
    [`doubled ${toolMs}`]: doubledEffects(rondo.deployment.directory, new Set(performed.map(({ tag }) => tag))),
    [`turns paid again, tools of ${toolMs} ms`]: paidAgain(exchanges.map(({ tag, turn }) => `${tag} ${turn}`)),
  };
}

/** Until its successor has begun; until it is ready is another second. */
async function killAndAwaitNext(worker: { readonly pid: number | undefined; kill(): Promise<void> }): Promise<void> {
  await worker.kill();
  while (worker.pid === undefined) await sleep(10);
}

const paidAgain = (turns: readonly string[]): number => turns.length - new Set(turns).size;

/** Each command of each run wrote one line, of its own. */
function doubledEffects(directory: string, tags: ReadonlySet<string>): number {
  const all = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const files = all.filter((file) => file.endsWith('/effects'));
  const lines = files.flatMap((file) => readFileSync(join(directory, file), 'utf8').trim().split('\n'));
  const ours = lines.filter((line) => tags.has(line.split('-')[0] ?? ''));
  if (ours.length === 0) throw new Error('the commands had no effect that could be counted');
  return ours.length - new Set(ours).size;
}

export const recovery: Trial = { name: 'recovery', figures: toolTimesMs.flatMap(figuresOf), needs: {}, run };
