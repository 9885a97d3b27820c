import { type AccountId, type RunId, noUsage, runId } from '@rondo/contract';
import type { ClaimedRun } from '@rondo/domain';
import { RunQueues, producerConnection, queues, workerConnection } from '@rondo/messaging';
import { Outbox, PostgresRunStore } from '@rondo/persistence';
import { StoreFixture, newAccount } from '@rondo/persistence/testing';
import { createLogger, newUlid } from '@rondo/platform';
import { Worker } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import { ActiveRuns, OutboxRelay } from '@rondo/run-holder';
import { activateForJob, backlogAfterMs } from './run.processor';
import type { ActivationOutcome } from './agent-runner-parts';
import { DueRunPoller } from './due-run-poller';

const url = process.env['TEST_REDIS_URL'] ?? '';
const log = createLogger({ name: 'run-processor-spec', level: 'silent' });
const done = [
  { type: 'run.started', iteration: 0, data: {} },
  { type: 'run.completed', iteration: 1, data: { finish_reason: 'stop', usage: noUsage } },
] as const;

let fixture: StoreFixture;
let runQueues: RunQueues;
let prefix: string;
let relay: OutboxRelay;
let workers: TestWorker[] = [];
beforeEach(async () => {
  fixture = await StoreFixture.open();
  prefix = `spec${newUlid()}`;
  runQueues = new RunQueues({ connection: producerConnection(url), log, prefix });
  relay = new OutboxRelay(new Outbox(fixture.database), runQueues, (error) => {
    throw error;
  });
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.close()));
  workers = [];
  await runQueues.runs.queue.obliterate({ force: true });
  await runQueues.close();
  await fixture.close();
});

/** A worker whose runs do nothing but last a moment. */
class TestWorker {
  readonly activeRuns = new ActiveRuns();
  readonly store = new PostgresRunStore({ database: fixture.database, newId: newUlid });
  private readonly worker: Worker | undefined;

  constructor(
    readonly started: ClaimedRun[],
    private readonly options: { name: string; concurrency: number; usesQueue?: boolean; runMs?: number },
  ) {
    if (options.usesQueue ?? true) this.worker = this.bullWorker();
    workers.push(this);
  }

  private bullWorker(): Worker {
    const { concurrency } = this.options;
    const connection = workerConnection(url);
    const processJob = (job: { data: unknown; timestamp: number }) =>
      activateForJob(this, {
        runId: queues.runs.job.parse(job.data).run_id,
        waitedMs: Date.now() - job.timestamp,
      });
    return new Worker(queues.runs.name, processJob, {
      ...queues.runs.workerOptions({ concurrency }),
      connection,
      prefix,
    });
  }

  activate = async (id: RunId) => this.work(await this.store.claim(id, this.options.name));

  activateNext = async () =>
    this.work(await this.store.claimNext(this.options.name, () => this.activeRuns.listServed()));

  private async work(claim: ClaimedRun | undefined): Promise<'ended' | 'not due'> {
    if (!claim) return 'not due';
    this.started.push(claim);
    const active = this.activeRuns.add(claim);
    await sleep(this.options.runMs ?? 1);
    await this.store.append(claim, done);
    this.activeRuns.remove(active);
    return 'ended';
  }

  async close(): Promise<void> {
    await this.worker?.close();
  }
}

async function post(accountId: AccountId, count: number): Promise<void> {
  for (let made = 0; made < count; made += 100) {
    const some = Math.min(100, count - made);
    await Promise.all(Array.from({ length: some }, () => fixture.create({ accountId })));
  }
  await relay.publish();
}

const until = async (condition: () => boolean) => {
  while (!condition()) await sleep(5);
};

const countRuns = (account: AccountId, runs: readonly ClaimedRun[]) =>
  runs.filter(({ accountId }) => accountId === account).length;

const print = (line: string) => process.stdout.write(`      ${line}\n`);

describe('attack: tenants', () => {
  it('1,000 queued runs of one account, before another account posts its only one, with two workers of one place each', async () => {
    const other = await newAccount(fixture.database);
    await post(fixture.accountId, 1_000);
    const started: ClaimedRun[] = [];
    for (const name of ['worker-1', 'worker-2']) new TestWorker(started, { name, concurrency: 1 });
    await until(() => started.length >= 40);

    await fixture.create({ accountId: other });
    const before = started.length;
    await relay.publish();
    await until(() => countRuns(other, started) === 1);

    const waitedFor = Math.max(0, started.findIndex(({ accountId }) => accountId === other) - before);
    print(`the run of the other account started after ${waitedFor} of the 1,000, with two workers`);
    expect(waitedFor).toBeLessThanOrEqual(2);
    expect(started.length).toBeLessThan(1_000);
  });

  it('1,000 queued runs of one account, before another account posts its only one, while Redis is away', async () => {
    const other = await newAccount(fixture.database);
    await post(fixture.accountId, 1_000);
    const started: ClaimedRun[] = [];
    const worker = new TestWorker(started, { name: 'worker-1', concurrency: 1, usesQueue: false });
    const poller = new DueRunPoller({
      queue: { answers: () => Promise.resolve(false) },
      store: { due: (order) => worker.store.due({ ...order, sinceMs: 0 }) },
      activeRuns: worker.activeRuns,
      rest: { isResting: false },
      concurrency: 1,
      activateNext: worker.activateNext,
      failed: (error) => {
        throw error;
      },
    });
    const pollOnce = async () => {
      const next = started.length + 1;
      await poller.poll();
      await until(() => started.length === next && worker.activeRuns.size === 0);
    };
    for (let polls = 0; polls < 5; polls += 1) await pollOnce();
    await post(other, 1);

    await pollOnce();

    print(`without Redis it started after ${started.length - 6} of the 1,000, with one worker`);
    expect(started.map(({ accountId }) => accountId === other)).toEqual([false, false, false, false, false, true]);
  });
});

describe('activateForJob', () => {
  it.each([
    ['a concurrency of one', 1],
    ['a concurrency of eight', 8],
  ])(
    'gives two accounts with a backlog the same share of two workers with %s, within 5 %%',
    async (_, concurrency) => {
      const other = await newAccount(fixture.database);
      await post(fixture.accountId, 250);
      await post(other, 250);
      const started: ClaimedRun[] = [];
      for (const name of ['worker-1', 'worker-2']) new TestWorker(started, { name, concurrency });

      await until(() => started.length >= 400);

      const share = countRuns(other, started.slice(0, 400)) / 400;
      print(`of 400 runs the account that posted last had ${(share * 100).toFixed(1)} %`);
      expect(Math.abs(share - 0.5)).toBeLessThanOrEqual(0.05);
    },
    300_000,
  );

  it('activates all runs of a single account in their order', async () => {
    await post(fixture.accountId, 300);
    await sleep(backlogAfterMs + 50); // younger jobs are no backlog, and are processed in the order in which they were added
    const started: ClaimedRun[] = [];
    new TestWorker(started, { name: 'worker-1', concurrency: 1 });

    await until(() => started.length === 300);

    const ids = started.map(({ runId }) => runId);
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(300);
  });

  it.each([
    ['in a backlog', backlogAfterMs + 1],
    ['without one', 0],
  ])('passes over runs that need a newer version, and activates the run behind them, %s', async (_, waitedMs) => {
    const line: ActivationOutcome[] = ['needs a newer version', 'needs a newer version', 'ended', 'not due'];
    const next = () => Promise.resolve(line.shift() ?? 'not due');

    const outcome = await activateForJob(
      { activate: next, activateNext: next },
      { runId: runId.parse('run_1'), waitedMs },
    );

    expect(outcome).toBe('ended');
    expect(line).toEqual(['not due']);
  });

  it('claims a run by its own job while there is no backlog', async () => {
    const started: ClaimedRun[] = [];
    const worker = new TestWorker(started, { name: 'worker-1', concurrency: 4 });
    const inTurn = jest.spyOn(worker.store, 'claimNext');

    for (let posted = 1; posted <= 5; posted += 1) {
      await post(fixture.accountId, 1);
      await until(() => started.length === posted && worker.activeRuns.size === 0);
    }

    expect(inTurn).not.toHaveBeenCalled();
  });
});
