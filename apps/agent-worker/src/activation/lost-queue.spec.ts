import type { RunId } from '@rondo/contract';
import { effectiveSettings } from '@rondo/domain';
import { RunQueues, producerConnection, workerConnection } from '@rondo/messaging';
import { Accounts, Outbox, PostgresRunStore, Runs } from '@rondo/persistence';
import { type TestDatabase, makeTestDatabase } from '@rondo/persistence/testing';
import { createLogger, newUlid } from '@rondo/platform';
import { Worker } from 'bullmq';
import { OutboxRelay } from '@rondo/run-holder';

const log = createLogger({ name: 'lost-queue-spec', level: 'silent' });
const missedAfterMs = 50;

let database: TestDatabase;
let queues: RunQueues;
let relay: OutboxRelay;
let store: PostgresRunStore;
let connection: ReturnType<typeof workerConnection>;
beforeAll(async () => {
  const redis = process.env['TEST_REDIS_URL'];
  if (redis === undefined) throw new Error('TEST_REDIS_URL must name a Redis server');
  connection = workerConnection(redis);
  database = await makeTestDatabase();
  queues = new RunQueues({ connection: producerConnection(redis), log, prefix: `spec${newUlid()}` });
  relay = new OutboxRelay(new Outbox(database), queues, (error) => {
    throw error;
  });
  store = new PostgresRunStore({ database, newId: newUlid, reaper: { missedAfterMs } });
});
afterAll(async () => {
  await flush();
  await queues.close();
  await database.drop();
});

/** What FLUSHALL does to the queues of this spec. */
const flush = async () => {
  await queues.runs.queue.obliterate({ force: true });
  await queues.compactions.queue.obliterate({ force: true });
};

const effective = effectiveSettings({}, { model: 'demo/coder' });
const settings = 'problems' in effective ? undefined : effective.settings;

async function createRuns(count: number): Promise<RunId[]> {
  if (!settings) throw new Error('the defaults are valid');
  const runs = new Runs(database, newUlid);
  const { account } = await new Accounts(database, newUlid).create({ name: 'test', scopes: [] });
  const created: RunId[] = [];
  for (let made = 0; made < count; made += 1) {
    const wanted = { accountId: account.id, settings, metadata: {}, onActiveRun: 'reject' } as const;
    created.push((await runs.create({ ...wanted, input: [{ type: 'text', text: 'Go.' }] })).run.id);
  }
  return created;
}

const waiting = async () => (await queues.runs.queue.getJobs(['waiting'])).map(({ id }) => id).sort();

describe('a lost queue', () => {
  it('is refilled by one execution of the reaper with the same jobs, each once (I1)', async () => {
    const runs = await createRuns(5);
    await relay.publish();
    const before = await waiting();
    expect(before).toEqual(runs.map((id) => `${id}-1`).sort());
    await flush();
    expect(await waiting()).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, missedAfterMs));

    await store.reap();
    await relay.publish();
    await store.reap();
    await relay.publish();

    expect(await waiting()).toEqual(before);
  });

  it('does not return the job of a worker that died before it claimed the run, which Postgres still lists as due', async () => {
    await flush();
    const [id] = await createRuns(1);
    await relay.publish();
    const died = new Worker(queues.runs.queue.name, null, { ...queues.runs.queue.opts, connection });
    expect((await died.getNextJob('a lock that is never renewed')).id).toBe(`${id}-1`);
    await died.close(true);
    await new Promise((resolve) => setTimeout(resolve, missedAfterMs));

    await store.reap();
    await relay.publish();

    expect(await waiting()).not.toContain(`${id}-1`);
    await new Promise((resolve) => setTimeout(resolve, missedAfterMs));
    expect(await store.due({ sinceMs: missedAfterMs, limit: 10 })).toContain(id);
  });

  it('gets no job for a claimed run, and a second claim of it finds nothing to do', async () => {
    const [id] = await createRuns(1);
    if (!id) throw new Error('one run was made');
    expect(await store.claim(id, 'worker-1')).toBeDefined();
    await flush();
    await new Promise((resolve) => setTimeout(resolve, missedAfterMs));

    await store.reap();

    expect(await store.claim(id, 'worker-2')).toBeUndefined();
    const { count } = await database.prisma.outboxEntry.deleteMany({ where: { key: { startsWith: id } } });
    expect(count).toBe(1); // the one that its creation left
  });
});
