import { type AccountId, type RunId, noUsage } from '@rondo/contract';
import type { ClaimedRun } from '@rondo/domain';
import { RunQueues, producerConnection, queues, workerConnection } from '@rondo/messaging';
import { Outbox, PostgresRunStore } from '@rondo/persistence';
import { StoreFixture, newAccount } from '@rondo/persistence/testing';
import { createLogger, newUlid } from '@rondo/platform';
import { Worker } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import { ActiveRuns } from './active-runs';
import { DueRunPoller } from './due-run-poller';
import { OutboxRelay } from '../delivery/outbox-relay';
import { backlogAfterMs, takeTurn } from './take-turn';

const url = process.env['TEST_REDIS_URL'] ?? '';
const log = createLogger({ name: 'take-turn-spec', level: 'silent' });
const done = [
  { type: 'run.started', iteration: 0, data: {} },
  { type: 'run.completed', iteration: 1, data: { finish_reason: 'stop', usage: noUsage } },
] as const;

let house: StoreFixture;
let runQueues: RunQueues;
let prefix: string;
let relay: OutboxRelay;
let workers: TestWorker[] = [];
beforeEach(async () => {
  house = await StoreFixture.open();
  prefix = `spec${newUlid()}`;
  runQueues = new RunQueues({ connection: producerConnection(url), log, prefix });
  relay = new OutboxRelay(new Outbox(house.database), runQueues, (error) => {
    throw error;
  });
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.close()));
  workers = [];
  await runQueues.runs.queue.obliterate({ force: true });
  await runQueues.close();
  await house.close();
});

/** What a worker does with runs, but for what is in them: each takes a moment. */
class TestWorker {
  readonly held = new ActiveRuns();
  readonly store = new PostgresRunStore({ database: house.database, mint: newUlid });
  private readonly worker: Worker | undefined;

  constructor(
    readonly started: ClaimedRun[],
    private readonly options: { name: string; concurrency: number; hearsQueue?: boolean; runMs?: number },
  ) {
    if (options.hearsQueue ?? true) this.worker = this.listening();
    workers.push(this);
  }

  private listening(): Worker {
    const { concurrency } = this.options;
    const connection = workerConnection(url);
    const take = (job: { data: unknown; timestamp: number }) =>
      takeTurn(this, {
        runId: queues.runs.job.parse(job.data).run_id,
        waitedMs: Date.now() - job.timestamp,
      });
    return new Worker(queues.runs.name, take, { ...queues.runs.workerOptions({ concurrency }), connection, prefix });
  }

  activate = async (id: RunId) => this.work(await this.store.claim(id, this.options.name));

  activateNext = async () => this.work(await this.store.claimNext(this.options.name, () => this.held.served()));

  private async work(claim: ClaimedRun | undefined): Promise<'ended' | 'not due'> {
    if (!claim) return 'not due';
    this.started.push(claim);
    const held = this.held.hold(claim);
    await sleep(this.options.runMs ?? 1);
    await this.store.append(claim, done);
    this.held.release(held);
    return 'ended';
  }

  async close(): Promise<void> {
    await this.worker?.close();
  }
}

async function post(accountId: AccountId, count: number): Promise<void> {
  for (let made = 0; made < count; made += 100) {
    const some = Math.min(100, count - made);
    await Promise.all(Array.from({ length: some }, () => house.create({ accountId })));
  }
  await relay.publish();
}

const until = async (condition: () => boolean) => {
  while (!condition()) await sleep(5);
};

const runsOf = (account: AccountId, runs: readonly ClaimedRun[]) =>
  runs.filter(({ accountId }) => accountId === account).length;

const say = (line: string) => process.stdout.write(`      ${line}\n`);

describe('attack: tenants', () => {
  it('1,000 queued runs of one account, before another account posts its only one, with two workers of one place each', async () => {
    const other = await newAccount(house.database);
    await post(house.accountId, 1_000);
    const started: ClaimedRun[] = [];
    for (const name of ['worker-1', 'worker-2']) new TestWorker(started, { name, concurrency: 1 });
    await until(() => started.length >= 40);

    await house.create({ accountId: other });
    const before = started.length;
    await relay.publish();
    await until(() => runsOf(other, started) === 1);

    const waitedFor = Math.max(0, started.findIndex(({ accountId }) => accountId === other) - before);
    say(`the run of the other account started after ${waitedFor} of the 1,000, with two workers`);
    expect(waitedFor).toBeLessThanOrEqual(2);
    expect(started.length).toBeLessThan(1_000);
  }, 60_000);

  it('1,000 queued runs of one account, before another account posts its only one, while Redis is away', async () => {
    const other = await newAccount(house.database);
    await post(house.accountId, 1_000);
    const started: ClaimedRun[] = [];
    const worker = new TestWorker(started, { name: 'worker-1', concurrency: 1, hearsQueue: false });
    const lookout = new DueRunPoller({
      queue: { answers: () => Promise.resolve(false) },
      store: { due: (order) => worker.store.due({ ...order, sinceMs: 0 }) },
      held: worker.held,
      concurrency: 1,
      activateNext: worker.activateNext,
      failed: (error) => {
        throw error;
      },
    });
    const look = async () => {
      const next = started.length + 1;
      await lookout.look();
      await until(() => started.length === next && worker.held.size === 0);
    };
    for (let looks = 0; looks < 5; looks += 1) await look();
    await post(other, 1);

    await look();

    say(`without Redis it started after ${started.length - 6} of the 1,000, with one worker`);
    expect(started.map(({ accountId }) => accountId === other)).toEqual([false, false, false, false, false, true]);
  }, 60_000);
});

describe('turns', () => {
  it.each([
    ['one place', 1],
    ['eight places', 8],
  ])(
    'give two accounts with a backlog the same share of two workers with %s, within 5 %%',
    async (_, concurrency) => {
      const other = await newAccount(house.database);
      await post(house.accountId, 250);
      await post(other, 250);
      const started: ClaimedRun[] = [];
      for (const name of ['worker-1', 'worker-2']) new TestWorker(started, { name, concurrency });

      await until(() => started.length >= 400);

      const share = runsOf(other, started.slice(0, 400)) / 400;
      say(`of 400 runs the account that posted last had ${(share * 100).toFixed(1)} %`);
      expect(Math.abs(share - 0.5)).toBeLessThanOrEqual(0.05);
    },
    60_000,
  );

  it('leave the runs of a single account in their order, and none of them behind', async () => {
    await post(house.accountId, 300);
    await sleep(backlogAfterMs + 50); // a younger job is no backlog, and is taken in the order in which jobs were added
    const started: ClaimedRun[] = [];
    new TestWorker(started, { name: 'worker-1', concurrency: 1 });

    await until(() => started.length === 300);

    const ids = started.map(({ runId }) => runId);
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(300);
  }, 60_000);

  it('cost nothing while there are places: a run that is posted then is claimed by its own job', async () => {
    const started: ClaimedRun[] = [];
    const worker = new TestWorker(started, { name: 'worker-1', concurrency: 4 });
    const inTurn = jest.spyOn(worker.store, 'claimNext');

    for (let posted = 1; posted <= 5; posted += 1) {
      await post(house.accountId, 1);
      await until(() => started.length === posted && worker.held.size === 0);
    }

    expect(inTurn).not.toHaveBeenCalled();
  }, 60_000);
});
