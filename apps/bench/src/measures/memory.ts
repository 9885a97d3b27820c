import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newTag } from '../contender';
import { type Plan, ordinary } from '../model/plan';
import type { RondoContender } from '../rondo-contender';
import type { Scale } from '../scale';
import type { Findings, Trial, TrialSurroundings } from './measure';
import { memoryInUse } from './memory-in-use';

const megabytes = { unit: 'MB', bounds: 'value', better: 'less' } as const;

const figures: Trial['figures'] = [
  { key: 'active', title: 'memory per 1,000 runs that wait for the model', ...megabytes, must: 100, goal: 60 },
  {
    key: 'parked',
    title: 'memory in use of the workers per 10,000 runs that wait for a person',
    ...megabytes,
    must: 5,
    goal: 0,
  },
  { key: 'sockets', title: 'memory of the gateway per 5,000 idle sockets', ...megabytes },
];

const atOnce = 50;
const parkedAtOnce = 200;
const waiting: Plan = { ...ordinary, toolTurns: 0, held: true };
const asking: Plan = { ...ordinary, toolTurns: 1, tool: 'ask' };

/** Memory after all garbage was collected, before and while many wait. */
async function run(rondo: RondoContender, surroundings: TrialSurroundings): Promise<Findings> {
  await Promise.all(Array.from({ length: atOnce }, () => rondo.perform({ plan: ordinary })));
  const sockets = await idleSockets(rondo, surroundings);
  const active = await activeRuns(rondo, surroundings);
  const parked = await parkedRuns(rondo, surroundings);
  return { active, ...parked, sockets };
}

async function activeRuns(rondo: RondoContender, { model, scale }: TrialSurroundings): Promise<number> {
  const before = await residentMb(rondo, scale);
  await submit(rondo, { plan: waiting, count: scale.activeRuns });
  while ((await model.ask('count held')).held < scale.activeRuns) await sleep(50);
  const after = await residentMb(rondo, scale);
  await model.ask('release');
  await untilNothingRuns(rondo);
  return ((total(after) - total(before)) / scale.activeRuns) * 1_000;
}

/** By what is in use: the resident size of a process moves by more than that, as its allocators please. */
async function parkedRuns(rondo: RondoContender, { scale }: TrialSurroundings): Promise<Findings> {
  await park(rondo, scale.parkedRuns / 10); // a worker that works has another size
  const before = await inUseMb(rondo, scale);
  await park(rondo, scale.parkedRuns);
  const after = await inUseMb(rondo, scale);
  const grownBy = (name: string) => (((after[name] ?? 0) - (before[name] ?? 0)) / scale.parkedRuns) * 10_000;
  return {
    parked: grownBy('agent-worker') + grownBy('summarizer'),
    'gateway per 10,000 parked runs, MB': grownBy('gateway'),
  };
}

async function idleSockets(rondo: RondoContender, { scale }: TrialSurroundings): Promise<number> {
  const count = scale.idleSockets;
  const before = await residentMb(rondo, scale);
  const sockets = [];
  while (sockets.length < count) {
    const next = Math.min(atOnce, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: next }, () => rondo.connect()))));
  }
  const after = await residentMb(rondo, scale);
  for (const socket of sockets) socket.close();
  return (((after['gateway'] ?? 0) - (before['gateway'] ?? 0)) / count) * 5_000;
}

/** A few at a time: how many run at once has a size of its own, which is not what is asked here. */
async function park(rondo: RondoContender, count: number): Promise<void> {
  for (let left = count; left > 0; left -= parkedAtOnce) {
    await submit(rondo, { plan: asking, count: Math.min(left, parkedAtOnce) });
    await untilNothingRuns(rondo);
  }
}

async function submit(rondo: RondoContender, { plan, count }: { plan: Plan; count: number }): Promise<void> {
  let left = count;
  const clients = Array.from({ length: atOnce }, async () => {
    while (left-- > 0) await rondo.submit({ plan, tag: newTag() });
  });
  await Promise.all(clients);
}

async function untilNothingRuns(rondo: RondoContender): Promise<void> {
  while ((await rondo.countRuns('queued')) + (await rondo.countRuns('running')) > 0) await sleep(50);
}

/** Of the services; the servers keep what they were given. */
async function residentMb(rondo: RondoContender, { restMs }: Scale): Promise<Record<string, number>> {
  await sleep(restMs);
  await memoryInUse(rondo);
  await sleep(restMs);
  return rondo.residentMb();
}

async function inUseMb(rondo: RondoContender, { restMs }: Scale): Promise<Record<string, number>> {
  await sleep(restMs);
  return memoryInUse(rondo);
}

const total = (resident: Record<string, number>): number => Object.values(resident).reduce((sum, mb) => sum + mb, 0);

export const memory: Trial = {
  name: 'memory',
  figures,
  needs: {
    everywhere: { NODE_OPTIONS: `--require ${JSON.stringify(join(__dirname, '../inside/collect-garbage.js'))}` },
    worker: { RUN_CONCURRENCY: '2000' },
  },
  run,
};
