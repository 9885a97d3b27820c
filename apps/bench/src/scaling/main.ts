import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../../../../deploy/local/command.mjs';
import { withClient } from '../../../../deploy/local/servers/postgres-client.mjs';
import { terminal as log } from '../../../../deploy/local/progress.mjs';
import { grantScaler, toRole } from '../../../../deploy/local/servers/roles.mjs';
import { RunningRondo } from '@rondo/test-deployment';
import { machine } from '../machine/machine';
import { percentile } from '../statistics';
import { Autoscaler, type ScalingRule } from './autoscaler';
import type { RunningProgram } from '../../../../deploy/local/processes/supervised-process.mjs';

/** Workers of which any number runs. The first ones run, the others are stopped. */
class Fleet {
  private wanted: number;
  private readonly changes: Promise<void>[];
  private readonly aliveSinceMs: (number | undefined)[];
  private aliveMs = 0;

  /** All of them run. */
  constructor(private readonly workers: readonly RunningProgram[]) {
    this.wanted = workers.length;
    this.changes = workers.map(() => Promise.resolve());
    this.aliveSinceMs = workers.map(() => performance.now());
  }

  get size(): number {
    return this.wanted;
  }

  /** Starts or stops what is missing or too many, without waiting: a worker that stops gives its runs to others. */
  resize(size: number): void {
    for (let index = this.wanted; index < size; index++) this.change(index, true);
    for (let index = size; index < this.wanted; index++) this.change(index, false);
    this.wanted = size;
  }

  /** Resolves when every worker has started or stopped. */
  async waitForChanges(): Promise<void> {
    await Promise.all(this.changes);
  }

  /** The sum of the times that workers have lived since the last call, in ms. */
  takeAliveMs(): number {
    const now = performance.now();
    const running = this.aliveSinceMs.map((since) => (since === undefined ? 0 : now - since));
    const taken = this.aliveMs + running.reduce((sum, ms) => sum + ms, 0);
    this.aliveMs = 0;
    this.aliveSinceMs.forEach((since, index) => (this.aliveSinceMs[index] = since === undefined ? undefined : now));
    return taken;
  }

  private change(index: number, runs: boolean): void {
    const worker = this.workers[index];
    if (!worker) throw new Error(`there is no worker ${index}`);
    const before = this.changes[index] ?? Promise.resolve();
    this.changes[index] = before.then(async () => {
      if (runs) this.aliveSinceMs[index] = performance.now();
      await (runs ? worker.start() : worker.stop());
      if (runs) return;
      this.aliveMs += performance.now() - (this.aliveSinceMs[index] ?? performance.now());
      this.aliveSinceMs[index] = undefined;
    });
  }
}

const most = 8;
const concurrency = 5;
/** Of a run, nearly all of it the model's. */
const runMs = 4_000;
const waves = { count: 5, runs: 100, everyMs: 45_000 };

/** The Helm chart's times, fifteen times as fast: KEDA looks every 15 s, five minutes of stabilization, one pod a minute. */
const pollMs = 1_000;
const usual: ScalingRule = { min: 1, max: most, target: concurrency * 0.8, stabilizationMs: 20_000, removalMs: 4_000 };
const fleets: readonly { name: string; rule: ScalingRule }[] = [
  { name: `a fixed fleet of ${most} workers`, rule: { ...usual, min: most } },
  { name: `1 to ${most} workers`, rule: usual },
  { name: `0 to ${most} workers`, rule: { ...usual, min: 0 } },
];

/** A connection as the role of the scaler. */
interface Scaler {
  query(text: string): Promise<{ rows: { runs: number }[] }>;
}

interface Figures {
  readonly created: number;
  readonly completed: number;
  readonly waitedP50Ms: number;
  readonly waitedP95Ms: number;
  readonly workerMinutes: number;
  /** Of all workers in the same time. */
  readonly fixedMinutes: number;
  readonly sizes: readonly number[];
}

/** Runs in waves, and a driver that looks at the runs to serve as KEDA does and starts and stops worker processes. */
async function underWaves(rondo: RunningRondo, scaler: Scaler, rule: ScalingRule): Promise<Figures> {
  const client = rondo.client();
  const fleet = toFleet(rondo);
  const autoscaler = new Autoscaler(rule);
  const sizes: number[] = [];
  const look = async () => {
    const { rows } = await scaler.query('select runs from runs_to_serve');
    const toServe = rows[0]?.runs ?? 0;
    fleet.resize(autoscaler.decide({ atMs: performance.now(), toServe, workers: fleet.size }));
    sizes.push(fleet.size);
    return toServe;
  };
  const rest = async () => {
    while ((await look()) > 0 || fleet.size > rule.min) await sleep(pollMs);
    await fleet.waitForChanges();
  };

  await rest();
  fleet.takeAliveMs();
  const beganAt = performance.now();
  sizes.length = 0;
  const model = `demo/plain:delay_ms=${runMs}`;
  const ids: string[] = [];
  for (let wave = 0; wave < waves.count; wave++) {
    const created = Array.from({ length: waves.runs }, () => client.createRun({ model, input: 'Wait for a while.' }));
    ids.push(...(await Promise.all(created)).map(({ id }) => id));
    const nextAt = performance.now() + waves.everyMs;
    while (performance.now() < nextAt) {
      await look();
      await sleep(pollMs);
    }
  }
  await rest();
  const aliveMs = fleet.takeAliveMs();
  const fixedMinutes = (most * (performance.now() - beganAt)) / 60_000;
  fleet.resize(most);
  await fleet.waitForChanges();
  return {
    ...(await readWaits(rondo, ids)),
    created: ids.length,
    workerMinutes: aliveMs / 60_000,
    fixedMinutes,
    sizes,
  };
}

const toFleet = ({ services }: RunningRondo): Fleet =>
  new Fleet(services.all.filter(({ name }) => name.startsWith('agent-worker')));

/** The time from a run's first fact until a worker began with it. */
async function readWaits(rondo: RunningRondo, ids: readonly string[]) {
  const timing = `select status, extract(epoch from started_at - created_at) * 1000 as waited from runs where id = any($1)`;
  const { rows } = await withClient(rondo.databaseUrl, (client) =>
    client.query<{ status: string; waited: string | null }>(timing, [ids]),
  );
  const waits = rows.map(({ waited }) => Number(waited ?? Infinity));
  return {
    completed: rows.filter(({ status }) => status === 'completed').length,
    waitedP50Ms: percentile(waits, 50),
    waitedP95Ms: percentile(waits, 95),
  };
}

async function readScaler(rondo: RunningRondo): Promise<string> {
  const url = new URL(rondo.databaseUrl);
  const password = 'of-a-benchmark';
  await grantScaler({ url: url.href, password });
  return Object.assign(url, { username: toRole('scaler', url.pathname.slice(1)), password }).href;
}

const describe = ({ created, completed, waitedP50Ms, waitedP95Ms, sizes, ...minutes }: Figures): string =>
  [
    `  runs: ${created} created, ${completed} completed, ${created - completed} lost`,
    `  waited for a worker: p50 ${(waitedP50Ms / 1000).toFixed(1)} s, p95 ${(waitedP95Ms / 1000).toFixed(1)} s`,
    `  worker-minutes: ${minutes.workerMinutes.toFixed(1)}, of a fixed fleet in this time ${minutes.fixedMinutes.toFixed(1)}; workers: ${Math.min(...sizes)} to ${Math.max(...sizes)}`,
  ].join('\n');

void runCommand(
  async ({ owns }) => {
    log.note(
      `${machine}; ${waves.count} waves of ${waves.runs} runs of ${runMs / 1000} s, ${concurrency} runs a worker`,
    );
    const rondo = owns(
      await RunningRondo.start({
        instances: ['demo-model', 'gateway', ...Array<'agent-worker'>(most).fill('agent-worker')],
        settings: { 'agent-worker': { RUN_CONCURRENCY: `${concurrency}`, DRAIN_MS: '2000' } },
      }),
    );
    const lost = await withClient(await readScaler(rondo), async (scaler) => {
      let missing = 0;
      for (const { name, rule } of fleets) {
        const since = performance.now();
        const figures = await underWaves(rondo, scaler, rule);
        log.done({ name, ms: performance.now() - since });
        log.note(describe(figures));
        missing += figures.created - figures.completed;
      }
      return missing;
    });
    return lost === 0 ? 0 : 1;
  },
  { log, codeWhenInterrupted: 130 },
);
