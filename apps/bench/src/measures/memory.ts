import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import type { RunView } from '@rondo/test-deployment';
import type { Socket } from 'socket.io-client';
import { newTag } from '../measured-system';
import { type Plan, ordinary } from '../model/plan';
import type { RondoSystem } from '../rondo-system';
import type { Scale } from '../scale';
import type { Findings, Trial, TrialContext } from './measure';
import { bytesInUseFile } from '../inside/config';

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
  { key: 'watched', title: 'memory of a gateway with 10,000 watched runs', ...megabytes, must: 500, goal: 300 },
];

type RunId = RunView['id'];

const atOnce = 50;
const parkedAtOnce = 200;
const watchedPerSocket = 50;
const waiting: Plan = { ...ordinary, toolTurns: 0, held: true };
const asking: Plan = { ...ordinary, toolTurns: 1, tool: 'ask' };

/** Memory after garbage collection, before and while many runs or sockets wait. */
async function run(rondo: RondoSystem, context: TrialContext): Promise<Findings> {
  await Promise.all(Array.from({ length: atOnce }, () => rondo.runTask({ plan: ordinary })));
  const sockets = await idleSockets(rondo, context);
  const active = await activeRuns(rondo, context);
  const { ids, ...parked } = await parkRuns(rondo, context);
  return { ...active, ...parked, sockets, ...(await watchRuns(rondo, ids, context)) };
}

async function activeRuns(rondo: RondoSystem, { model, scale }: TrialContext): Promise<Findings> {
  const inUseBefore = await inUseMb(rondo, scale);
  const before = await residentMb(rondo, scale);
  await submit(rondo, { plan: waiting, count: scale.activeRuns });
  while ((await model.ask('count held')).held < scale.activeRuns) await sleep(50);
  const inUseAfter = await inUseMb(rondo, scale);
  const after = await residentMb(rondo, scale);
  await model.ask('release');
  await untilNothingRuns(rondo);
  const grownBy = (since: Record<string, number>, now: Record<string, number>) =>
    ((total(now) - total(since)) / scale.activeRuns) * 1_000;
  return {
    active: grownBy(before, after),
    'in use per 1,000 runs that wait for the model, MB': grownBy(inUseBefore, inUseAfter),
  };
}

/** By memory in use, because allocators make the resident size vary by more than these runs take. */
async function parkRuns(rondo: RondoSystem, { scale }: TrialContext) {
  await park(rondo, scale.parkedRuns / 10); // a worker that has been active uses more memory than a new one
  const before = await inUseMb(rondo, scale);
  const ids = await park(rondo, scale.parkedRuns);
  const after = await inUseMb(rondo, scale);
  const grownBy = (name: string) => (((after[name] ?? 0) - (before[name] ?? 0)) / scale.parkedRuns) * 10_000;
  return {
    ids,
    parked: grownBy('agent-worker') + grownBy('summarizer'),
    'gateway per 10,000 parked runs, MB': grownBy('gateway'),
  };
}

async function idleSockets(rondo: RondoSystem, { scale }: TrialContext): Promise<number> {
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

/** Everything that the gateway has, while each of the runs has a subscriber. */
async function watchRuns(rondo: RondoSystem, ids: readonly RunId[], { scale }: TrialContext): Promise<Findings> {
  const { gateway: before = NaN } = await inUseMb(rondo, scale);
  const left = [...ids];
  const sockets: Socket[] = [];
  while (left.length > 0) {
    const socket = await rondo.connect();
    sockets.push(socket);
    await Promise.all(left.splice(0, watchedPerSocket).map((id) => rondo.subscribe(socket, { id })));
  }
  const { gateway: after = NaN } = await inUseMb(rondo, scale);
  const { gateway: watched = NaN } = await residentMb(rondo, scale);
  for (const socket of sockets) socket.close();
  return { watched, 'gateway in use per 10,000 watched runs, MB': ((after - before) / scale.parkedRuns) * 10_000 };
}

/** In small batches, because runs that are active at the same time take memory that is not measured here. */
async function park(rondo: RondoSystem, count: number): Promise<RunId[]> {
  const ids: RunId[] = [];
  while (ids.length < count) {
    ids.push(...(await submit(rondo, { plan: asking, count: Math.min(count - ids.length, parkedAtOnce) })));
    await untilNothingRuns(rondo);
  }
  return ids;
}

async function submit(rondo: RondoSystem, { plan, count }: { plan: Plan; count: number }): Promise<RunId[]> {
  let left = count;
  const ids: RunId[] = [];
  const clients = Array.from({ length: atOnce }, async () => {
    while (left-- > 0) ids.push((await rondo.submit({ plan, tag: newTag() })).id);
  });
  await Promise.all(clients);
  return ids;
}

async function untilNothingRuns(rondo: RondoSystem): Promise<void> {
  while ((await rondo.countRuns('queued')) + (await rondo.countRuns('running')) > 0) await sleep(50);
}

/** Of the services only: Postgres, Redis and NATS do not return memory. */
async function residentMb(rondo: RondoSystem, { restMs }: Scale): Promise<Record<string, number>> {
  await sleep(restMs);
  await memoryInUse(rondo);
  await sleep(restMs);
  return rondo.residentMb();
}

async function inUseMb(rondo: RondoSystem, { restMs }: Scale): Promise<Record<string, number>> {
  await sleep(restMs);
  return memoryInUse(rondo);
}

const total = (resident: Record<string, number>): number => Object.values(resident).reduce((sum, mb) => sum + mb, 0);

export const memory: Trial = {
  name: 'memory',
  figures,
  needs: {
    preloaded: [join(__dirname, '../inside/collect-garbage.js')],
    worker: { RUN_CONCURRENCY: '2000' },
  },
  run,
};

/**
 * Has each service collect its garbage and report its memory in use: heap and external memory, in MB by name. The
 * services must have been started with `inside/collect-garbage`.
 */
async function memoryInUse(rondo: RondoSystem): Promise<Record<string, number>> {
  rondo.signalServices('SIGUSR2');
  const inUse: Record<string, number> = {};
  for (const { name, pid } of rondo.deployment.services.all) if (pid !== undefined) inUse[name] = await readMb(pid);
  return inUse;
}

async function readMb(pid: number): Promise<number> {
  const file = bytesInUseFile(pid);
  while (!existsSync(file)) await sleep(20);
  const bytes = Number(readFileSync(file, 'utf8'));
  rmSync(file);
  return bytes / 1e6;
}
