import { type AccountId, accountId } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';
import { ActiveRunQuota } from './run-quotas';

let gateway: RunningGateway;
let worker: TestWorker;
beforeAll(async () => {
  gateway = await RunningGateway.start({ MAX_ACTIVE_RUNS_PER_ACCOUNT: 3 });
  worker = await TestWorker.start(gateway.database);
});
afterAll(async () => {
  await worker.close();
  await gateway.close();
});

const post = (key: string, more: object = {}) =>
  gateway
    .as(key)
    .post('/v1/runs')
    .send({ input: 'Go.', ...more });

describe('attack: tenants', () => {
  it('one run more than an account may have', async () => {
    const key = await gateway.toKey('many');
    const runs = [];
    for (let n = 0; n < 3; n += 1) runs.push((await post(key).expect(202)).body);

    const { body, headers } = await post(key).set('Idempotency-Key', 'one more').expect(429);
    expect(body).toMatchObject({ code: 'too_many_active_runs' });
    expect(body.detail).toContain('MAX_ACTIVE_RUNS_PER_ACCOUNT');
    expect(headers['retry-after']).toBe('5');
    await post(await gateway.toKey('few')).expect(202);

    await (await worker.claim(runs[0].id)).complete();
    await post(key).set('Idempotency-Key', 'one more').expect(202);
  });

  it('fifty runs at once', async () => {
    const key = await gateway.toKey('burst');
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(key)));

    expect(answers.filter(({ status }) => status === 202)).toHaveLength(3);
    const { body } = await gateway.as(key).get('/v1/runs?limit=200').expect(200);
    expect(body.data).toHaveLength(3);
  });

  it('fifty runs at once, at two gateways', async () => {
    const key = await gateway.toKey('burst at two');
    const { DATABASE_URL } = gateway.parts.config;
    const other = await RunningGateway.start({ MAX_ACTIVE_RUNS_PER_ACCOUNT: 3, DATABASE_URL });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => (n % 2 ? gateway : other).as(key).post('/v1/runs').send({ input: 'Go.' })),
    );
    await other.close();

    expect(answers.filter(({ status }) => status === 202)).toHaveLength(3);
  });

  it('runs that wait for their thread, over a socket', async () => {
    const socket = gateway.socket(await gateway.toKey('queueing'));
    const create = (more: object = {}) =>
      socket.timeout(5_000).emitWithAck('run.create', { input: 'Go.', ...more }) as Promise<{
        data?: { thread_id: string };
        error?: object;
      }>;
    const { data } = await create();
    const behind = { thread_id: data?.thread_id, on_active_run: 'queue' };
    await create(behind);
    await create(behind);

    expect((await create(behind)).error).toMatchObject({
      status: 429,
      code: 'too_many_active_runs',
      retry_after_s: 5,
    });
  });
});

describe('a message to a run at work', () => {
  it('is told in an account that may have no more runs, where a run reads it', async () => {
    const key = await gateway.toKey('telling');
    const runs = [];
    for (let n = 0; n < 3; n += 1) runs.push((await post(key).expect(202)).body);
    const [active, other] = runs;
    const tell = (thread_id: string) => post(key, { thread_id, input: 'In blue.', on_active_run: 'steer' });

    const { body: told } = await tell(active.thread_id).expect(202);
    await tell(active.thread_id).expect(202);

    expect(told).toMatchObject({ id: active.id, steered: { queued_run_id: expect.any(String) } });
    await post(key, { thread_id: active.thread_id, on_active_run: 'queue' }).expect(429);
    await gateway.as(key).post(`/v1/runs/${told.steered.queued_run_id}/stop`).expect(202);
    await (await worker.claim(other.id)).complete();
    await post(key).expect(202);
    await tell(other.thread_id).expect(429);
  });

  it('does not count as a run of the account', async () => {
    const key = await gateway.toKey('counting');
    const { body: active } = await post(key).expect(202);
    await post(key, { thread_id: active.thread_id, input: 'In blue.', on_active_run: 'steer' }).expect(202);

    const { body } = await gateway.as(key).get('/v1/balance').expect(200);

    expect(body.quotas.active_runs.used).toBe(1);
  });
});

describe('ActiveRunQuota', () => {
  const account: AccountId = accountId.parse('acc_1');

  it('queries the database once a second while less than half is used, and for each run beyond', async () => {
    let active = 0;
    let queries = 0;
    const quota = new ActiveRunQuota(400, () => {
      queries += 1;
      return Promise.resolve(active);
    });
    const bounds: unknown[] = [];
    const make = (given?: object) => {
      bounds.push(given);
      return Promise.resolve((active += 1));
    };

    for (let n = 0; n < 200; n += 1) await quota.within(account, make);
    expect(queries).toBe(1);
    for (let n = 0; n < 200; n += 1) await quota.within(account, make);
    expect(queries).toBe(201);
    await expect(quota.within(account, make)).rejects.toMatchObject({ code: 'too_many_active_runs' });
    expect(bounds.indexOf(bounds.find((given) => given))).toBe(300);
    expect(bounds.at(-1)).toEqual({ active_runs: 400 });
  });

  it('counts runs created while the database was queried', async () => {
    const reads: ((active: number) => void)[] = [];
    const quota = new ActiveRunQuota(200, () => new Promise((resolve) => reads.push(resolve)));
    const finish: (() => void)[] = [];
    const slowly = () => new Promise<void>((resolve) => finish.push(resolve));

    const first = quota.within(account, slowly);
    reads.shift()?.(99);
    while (finish.length === 0) await new Promise(setImmediate);
    const second = quota.within(account, (bounds) => Promise.resolve(bounds));
    finish.shift()?.();
    await first;
    reads.shift()?.(99);

    expect(await second).toEqual({ active_runs: 200 });
  });
});
