import { setImmediate } from 'node:timers/promises';
import { type AccountId, accountId } from '@rondo/contract';
import type { AccountTier } from '@rondo/domain';
import { QuotaReached } from '@rondo/persistence';
import { RunningGateway } from '../testing/running-gateway';
import { type AddedAmounts, AccountQuotas, type QuotaLimits } from './account-quotas';

const account: AccountId = accountId.parse('acc_01JMX2Q8Z4T5V6W7X8Y9Z0A1B2');
const limits: QuotaLimits = {
  api_keys: 100,
  threads: 10_000,
  message_bytes: 1_000,
  image_bytes: 1_000,
  file_bytes: 1_000,
  workspaces: 10,
  active_runs: 10,
  triggers: 10,
  webhook_endpoints: 10,
  waiting_call_bytes: 1_000,
  run_minutes: Infinity,
};
const { waiting_call_bytes: _, run_minutes: __, ...stored } = limits;
const nothing = Object.fromEntries(Object.keys(stored).map((name) => [name, 0])) as typeof stored; // the same names

/** Quotas over a database that is this object, and a clock that a test sets. */
function quotasOver(used: Partial<typeof stored> = {}, tier?: AccountTier) {
  const state = { used, nowMs: 0, reads: 0, waitingBytes: undefined as number | undefined, runMinutes: 0 };
  const quotas = new AccountQuotas({
    limits,
    readUsage: () => {
      state.reads += 1;
      return Promise.resolve({ ...nothing, ...state.used });
    },
    readWaitingCallBytes: () => Promise.resolve(state.waitingBytes),
    readRunMinutes: () => Promise.resolve(state.runMinutes),
    measureKeptFiles: () => Promise.resolve(undefined),
    readTier: () => Promise.resolve(tier),
    onError: (error) => {
      throw error;
    },
    nowMs: () => state.nowMs,
  });
  return { quotas, state };
}

/** Resolves to the bounds that the write gets. */
const add = (quotas: AccountQuotas, amounts: AddedAmounts) =>
  quotas.within(account, amounts, (bounds) => Promise.resolve(bounds));

describe('AccountQuotas', () => {
  it('reads once for many requests while less than half is used', async () => {
    const { quotas, state } = quotasOver();
    for (let made = 0; made < 1_000; made += 1) await add(quotas, { threads: 1, message_bytes: 0 });

    expect(state.reads).toBe(1);
  });

  it('has the write count once little is left, with what it has added since it read', async () => {
    const { quotas } = quotasOver({ threads: 8_998 });
    const given: unknown[] = [];
    for (const _ of [1, 2, 3]) given.push(await add(quotas, { threads: 1 }));

    expect(given).toEqual([undefined, { threads: 10_000 }, { threads: 10_000 }]);
  });

  it('reads again after it has added what other gateways may add before they read', async () => {
    const { quotas, state } = quotasOver();
    for (let made = 0; made < 1_001; made += 1) await add(quotas, { threads: 1 });
    expect(state.reads).toBe(1);
    state.used = { threads: 9_500 };

    expect(await add(quotas, { threads: 1 })).toEqual({ threads: 10_000 });
    expect(state.reads).toBe(2);
  });

  it('lets writes that count take turns, and tells what they found', async () => {
    const { quotas } = quotasOver({ threads: 9_999 });
    const begun: string[] = [];
    let finish = (): void => undefined;
    const first = quotas.within(account, { threads: 1 }, () => {
      begun.push('first');
      return new Promise<void>((resolve) => (finish = resolve));
    });
    const second = quotas.within(account, { threads: 1 }, () => {
      begun.push('second');
      return Promise.reject(new QuotaReached('threads', 10_000, 10_000));
    });
    while (begun.length === 0) await setImmediate();
    expect(begun).toEqual(['first']);
    finish();
    await first;

    await expect(second).rejects.toMatchObject({
      code: 'quota_exceeded',
      about: { quota: 'threads', limit: 10_000, used: 10_000 },
    });
  });

  it('refuses what adds an unknown amount once nothing is left', async () => {
    const { quotas } = quotasOver({ message_bytes: 1_000 });

    await expect(add(quotas, { message_bytes: 0, threads: 1 })).rejects.toMatchObject({
      about: { quota: 'message_bytes' },
    });
    await add(quotas, { threads: 1 });
  });

  it('reads again before it refuses, so that what was deleted is free within a second', async () => {
    const { quotas, state } = quotasOver({ workspaces: 10 });
    await expect(add(quotas, { workspaces: 1 })).rejects.toMatchObject({ code: 'quota_exceeded' });
    state.used = { workspaces: 9 };
    state.nowMs += 1_001;

    await add(quotas, { workspaces: 1 });
    expect(state.reads).toBe(2);
  });

  it('reads again after a minute, and after five seconds while more than half is used', async () => {
    const { quotas, state } = quotasOver({ threads: 10 });
    await add(quotas, { threads: 1 });
    state.nowMs += 59_000;
    await add(quotas, { threads: 1 });
    expect(state.reads).toBe(1);
    state.used = { threads: 6_000 };
    state.nowMs += 2_000;
    await add(quotas, { threads: 1 });
    await setImmediate(); // until it is read
    expect(state.reads).toBe(2);
    state.nowMs += 5_001;
    await add(quotas, { threads: 1 });
    expect(state.reads).toBe(3);
  });

  it('shows the bytes of waiting calls, where they can be read', async () => {
    const { quotas, state } = quotasOver({}, { name: 'small', period: 'day', quotas: { waiting_call_bytes: 500 } });
    expect(await quotas.readQuotas(account)).not.toHaveProperty('waiting_call_bytes');
    state.waitingBytes = 70;

    expect(await quotas.readQuotas(account)).toMatchObject({ waiting_call_bytes: { used: 70, limit: 500 } });
  });

  it('refuses a run once the run minutes of a tier are used, and shows them only where they are limited', async () => {
    const { quotas, state } = quotasOver({}, { name: 'small', period: 'day', quotas: { run_minutes: 60 } });
    state.runMinutes = 59;
    await add(quotas, { run_minutes: 0 });
    state.runMinutes = 60;
    state.nowMs += 60_001;

    await expect(add(quotas, { run_minutes: 0 })).rejects.toMatchObject({
      code: 'quota_exceeded',
      about: { quota: 'run_minutes', limit: 60, used: 60 },
    });
    expect(await quotas.readQuotas(account)).toMatchObject({ run_minutes: { used: 60, limit: 60 } });
    expect(await quotasOver().quotas.readQuotas(account)).not.toHaveProperty('run_minutes');
  });

  it('uses what the tier sets, and the lower limit of active runs', async () => {
    const { quotas } = quotasOver({}, { name: 'small', period: 'day', max_active_runs: 3, quotas: { threads: 0 } });

    expect(await quotas.readQuotas(account)).toMatchObject({
      threads: { used: 0, limit: 0 },
      active_runs: { used: 0, limit: 3 },
      api_keys: { used: 0, limit: 100 },
    });
    await expect(add(quotas, { threads: 1 })).rejects.toMatchObject({ code: 'quota_exceeded' });
  });
});

describe('attack: tenants', () => {
  let gateway: RunningGateway;
  let key: string;
  beforeAll(async () => {
    const tiers = { default: 'free', tiers: { free: { quotas: { message_bytes: 10_000, run_minutes: 60 } }, all: {} } };
    gateway = await RunningGateway.start({
      ACCOUNT_TIERS: JSON.stringify(tiers),
      ACCOUNT_API_KEYS: 3,
      ACCOUNT_THREADS: 2,
      ACCOUNT_WORKSPACES: 1,
    });
  });
  beforeEach(async () => (key = await gateway.toKey('an account')));
  afterAll(() => gateway.close());

  const exceeded = (quota: string, limit: number) => ({ code: 'quota_exceeded', quota, limit });

  it('an account that makes API keys without end', async () => {
    const make = () =>
      gateway
        .as(key)
        .post('/v1/api-keys')
        .send({ name: 'another', scopes: ['admin'] });
    for (const _ of [1, 2]) await make().expect(201);

    expect((await make().expect(422)).body).toMatchObject(exceeded('api_keys', 3));
    const { body } = await gateway.as(key).get('/v1/balance').expect(200);
    expect(body.quotas.api_keys).toEqual({ used: 3, limit: 3 });
  });

  it('an account that makes threads without end, by themselves, by runs and by forks', async () => {
    const run = await gateway.createRun({ input: 'Go.' }, key);
    await gateway.as(key).post('/v1/threads').send({}).expect(201);

    expect((await gateway.as(key).post('/v1/threads').send({}).expect(422)).body).toMatchObject(exceeded('threads', 2));
    const { body } = await gateway.as(key).post('/v1/runs').send({ input: 'Go.' }).expect(422);
    expect(body).toMatchObject(exceeded('threads', 2));
    const fork = { at_seq: run.last_seq, input: 'Go.' };
    const { body: ofFork } = await gateway.as(key).post(`/v1/runs/${run.id}/fork`).send(fork).expect(422);
    expect(ofFork).toMatchObject(exceeded('threads', 2));
    const { body: shown } = await gateway.as(key).get('/v1/balance').expect(200);
    expect(shown.quotas).toMatchObject({ threads: { used: 2, limit: 2 }, active_runs: { used: 1, limit: 1_000 } });
  });

  it('an account whose messages are more than its tier allows', async () => {
    const { body: thread } = await gateway.as(key).post('/v1/threads').send({}).expect(201);
    const say = () =>
      gateway
        .as(key)
        .post(`/v1/threads/${thread.id}/messages`)
        .send({ content: 'x'.repeat(6_000) });
    await say().expect(201);

    expect((await say().expect(422)).body).toMatchObject(exceeded('message_bytes', 10_000));
    const input = 'x'.repeat(6_000);
    const { body } = await gateway.as(key).post('/v1/runs').send({ thread_id: thread.id, input }).expect(422);
    expect(body).toMatchObject(exceeded('message_bytes', 10_000));
  });

  it('an account whose runs have run for as long as its tier allows in a month', async () => {
    const run = await gateway.createRun({ input: 'Go.', tools: [] }, key);
    await gateway.ownerDatabase.sql.query(
      `update runs set started_at = date_trunc('month', now(), 'UTC') - interval '1 hour',
         finished_at = date_trunc('month', now(), 'UTC') + interval '61 minutes' where id = $1`,
      [run.id],
    );
    const { body: balance } = await gateway.as(key).get('/v1/balance').expect(200);
    const { body } = await gateway.as(key).post('/v1/runs').send({ input: 'Go.', tools: [] }).expect(422);

    expect(balance.quotas.run_minutes).toEqual({ used: 61, limit: 60 });
    expect(body).toMatchObject(exceeded('run_minutes', 60));
  });

  it('an account that has a workspace made for each of its threads', async () => {
    const run = await gateway.createRun({ input: 'Go.' }, key);
    await gateway.ownerDatabase.sql.query(
      `insert into sandboxes (id, thread_id, executor_id) values ($1, $2, 'here')`,
      [...[`sbx_${run.id.slice(4)}`, run.thread_id]],
    );
    await gateway.as(key).get('/v1/balance').expect(200); // reads what is used
    const { body } = await gateway.as(key).post('/v1/runs').send({ input: 'Go.' }).expect(422);
    const onItsThread = { thread_id: run.thread_id, input: 'Go.', on_active_run: 'queue' };

    expect(body).toMatchObject(exceeded('workspaces', 1));
    const fork = { at_seq: run.last_seq, input: 'Go.' };
    const { body: ofFork } = await gateway.as(key).post(`/v1/runs/${run.id}/fork`).send(fork).expect(422);
    expect(ofFork).toMatchObject(exceeded('workspaces', 1));
    await gateway.as(key).post('/v1/runs').send(onItsThread).expect(202);
    await gateway.as(key).post('/v1/runs').send({ input: 'Go.', tools: [] }).expect(202);
  });

  it('an account that makes threads over a socket', async () => {
    for (const _ of [1, 2]) await gateway.createRun({ input: 'Go.' }, key);
    const answer: unknown = await gateway.socket(key).timeout(5_000).emitWithAck('run.create', { input: 'Go.' });

    expect(answer).toMatchObject({ ok: false, error: exceeded('threads', 2) });
  });
});
