import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { RunId } from '@rondo/contract';
import { effectiveSettings } from '@rondo/domain';
import { SeverableProxy } from '@rondo/messaging/testing';
import { Accounts, Runs } from '@rondo/persistence';
import { type TestDatabase, makeTestDatabase } from '@rondo/persistence/testing';
import { newUlid } from '@rondo/platform';
import type * as workerModule from '../agent-worker.module';
import { ActiveRuns } from './active-runs';
import { leaveAllRuns } from './leave';
import { PeriodicTasks } from '../maintenance/periodic-tasks';
import type * as processorModule from './run.processor';

const given = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} must name a server to test with`);
  return value;
};

const redis = new URL(given('TEST_REDIS_URL'));
const proxy = new SeverableProxy({ host: redis.hostname, port: Number(redis.port) });
let database: TestDatabase;
let app: INestApplication;
let url: string;

/** A whole worker, which hears of Redis through a wire that can fall silent. */
beforeAll(async () => {
  database = await makeTestDatabase();
  await proxy.mend();
  Object.assign(process.env, {
    PORT: '0',
    DATABASE_URL: await database.urlOf('agent-worker'),
    REDIS_URL: `${proxy.urlOf(redis)}/9`,
    NATS_URL: given('TEST_NATS_URL'),
    LOG_LEVEL: 'silent',
  });
  // The configuration is read when the module is, so that is not before now.
  const { AgentWorkerModule } = jest.requireActual<typeof workerModule>('../agent-worker.module');
  app = await NestFactory.create(AgentWorkerModule, { logger: false });
  await app.listen(0, '127.0.0.1');
  app.get(PeriodicTasks, { strict: false }).start();
  url = await app.getUrl();
}, 30_000);
afterAll(async () => {
  await proxy.close();
  await database.drop();
});

async function createRun(): Promise<{ id: RunId; status: () => Promise<string> }> {
  const effective = effectiveSettings({}, { model: 'nobody/has-this' });
  if ('problems' in effective) throw new Error('the defaults are valid');
  const runs = new Runs(database, newUlid);
  const { account } = await new Accounts(database, newUlid).create({ name: 'test', scopes: [] });
  const { settings } = effective;
  const wanted = { accountId: account.id, settings, metadata: {}, onActiveRun: 'reject' } as const;
  const { run } = await runs.create({ ...wanted, input: [{ type: 'text', text: 'Go.' }] });
  return { id: run.id, status: async () => (await runs.get({ accountId: account.id, runId: run.id })).status };
}

/** What a SIGTERM does first. */
const leave = () => {
  const { RunProcessor } = jest.requireActual<typeof processorModule>('./run.processor');
  const part = <T>(type: new (...given: never[]) => T): T => app.get<T>(type, { strict: false });
  return leaveAllRuns({ processor: part(RunProcessor), held: part(ActiveRuns), rounds: part(PeriodicTasks) }, 1_000);
};

const failing = async (path: 'live' | 'ready'): Promise<string[]> => {
  const body = (await (await fetch(`${url}/health/${path}`)).json()) as { failing?: string[] };
  return body.failing ?? [];
};

async function until(condition: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
  return performance.now() - began;
}

describe('a worker whose Redis has fallen silent', () => {
  it('notices within seconds, takes runs from Postgres, lives on, and leaves in time (I1, R11, R14)', async () => {
    await until(async () => (await failing('ready')).length === 0);

    proxy.silence();
    expect(await until(async () => (await failing('ready')).includes('queue'))).toBeLessThan(30_000);
    const { status } = await createRun();
    expect(await until(async () => (await status()) === 'failed')).toBeLessThan(30_000); // nobody serves its model
    expect(await failing('live')).toEqual([]);

    const began = performance.now();
    await leave();
    await app.close();
    expect(performance.now() - began).toBeLessThan(20_000);
  }, 120_000);
});
