import type { RunId } from '@rondo/contract';
import { effectiveSettings } from '@rondo/domain';
import { SeverableProxy } from '@rondo/messaging/testing';
import { Accounts, Runs } from '@rondo/persistence';
import { type TestDatabase, makeTestDatabase } from '@rondo/persistence/testing';
import { createLogger, newUlid } from '@rondo/platform';
import { environment } from '../environment';
import { startAgentWorker } from '../start-agent-worker';

const given = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} must name a server to test with`);
  return value;
};

const redis = new URL(given('TEST_REDIS_URL'));
const proxy = new SeverableProxy({ host: redis.hostname, port: Number(redis.port) });
let database: TestDatabase;
let worker: Awaited<ReturnType<typeof startAgentWorker>>;
let url: string;

/** A whole worker that reaches Redis through a proxy which can fall silent. */
beforeAll(async () => {
  database = await makeTestDatabase();
  await proxy.mend();
  const config = environment.parse({
    PORT: '0',
    DATABASE_URL: await database.findUrl('agent-worker'),
    REDIS_URL: `${proxy.findUrl(redis)}/9`,
    NATS_URL: given('TEST_NATS_URL'),
    DRAIN_MS: '1000',
  });
  worker = await startAgentWorker(config, createLogger({ name: 'silent-redis-spec', level: 'silent' }));
  url = await worker.getUrl();
});
afterAll(async () => {
  await proxy.close();
  await database.drop();
});

async function createRun(): Promise<{ id: RunId; status: () => Promise<string> }> {
  const effective = effectiveSettings({}, { model: 'unknown/model' });
  if ('problems' in effective) throw new Error('the defaults are valid');
  const runs = new Runs(database, newUlid);
  const { account } = await new Accounts(database, newUlid).create({ name: 'test', scopes: [] });
  const { settings } = effective;
  const wanted = { accountId: account.id, settings, metadata: {}, onActiveRun: 'reject' } as const;
  const { run } = await runs.create({ ...wanted, input: [{ type: 'text', text: 'Go.' }] });
  return { id: run.id, status: async () => (await runs.get({ accountId: account.id, runId: run.id })).status };
}

const failing = async (path: 'live' | 'ready'): Promise<string[]> => {
  const body = (await (await fetch(`${url}/health/${path}`)).json()) as { failing?: string[] };
  return body.failing ?? [];
};

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}

describe('a worker whose Redis does not answer', () => {
  it('is not ready, claims runs from Postgres, stays live, and shuts down (I1)', async () => {
    await until(async () => (await failing('ready')).length === 0);

    proxy.silence();
    await until(async () => (await failing('ready')).includes('queue'));
    const { status } = await createRun();
    await until(async () => (await status()) === 'failed'); // its model does not exist
    expect(await failing('live')).toEqual([]);

    await worker.drain();
    await worker.close();
  });
});
