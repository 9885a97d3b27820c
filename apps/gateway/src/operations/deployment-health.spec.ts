import { setTimeout as sleep } from 'node:timers/promises';
import { RunningGateway, adminKey } from '../testing/running-gateway';
import { TestExecutor } from '../testing/test-executor';

const gateway = RunningGateway.forSuite();
let executor: TestExecutor;
beforeAll(async () => {
  executor = await TestExecutor.start({ search_engine: 'Set a key.' });
});
afterAll(async () => {
  await executor.close();
});

const health = async (key = adminKey) => (await gateway.as(key).get('/v1/admin/health').expect(200)).body;

describe('the health of the deployment', () => {
  it('counts what is under way, of all accounts', async () => {
    const { body } = await gateway.as().post('/v1/admin/accounts').send({ name: 'Tenant' }).expect(201);
    await gateway.createRun(undefined, body.api_key);
    await gateway.createRun();

    expect(await health()).toMatchObject({
      servers: { postgres: true, redis: true, nats: true },
      runs: { queued: 2 },
      queues: [
        { name: 'runs', due: 2, jobs: { consumers: expect.any(Number) } },
        { name: 'compactions', due: 0 },
      ],
      workers: [],
      outbox: { entries: expect.any(Number) },
    });
  });

  it('has the worker that holds a run, and when its lease ends', async () => {
    const expires = '2030-01-01T00:00:00.000Z';
    await gateway.ownerDatabase.sql.query(
      `update runs set lease_owner = 'worker-1', lease_expires_at = $1 where id = (select min(id) from runs)`,
      [expires],
    );
    expect(await health()).toMatchObject({
      workers: [{ id: 'worker-1', runs: 1, lease_expires_at: expires }],
      queues: [{ name: 'runs', due: 1 }, { name: 'compactions' }],
    });
  });

  it('has the executors that announce themselves, with what they lack', async () => {
    let found: { id: string }[] = [];
    while (found.length === 0) {
      const { executors } = (await health()) as { executors: { id: string }[] | null };
      found = executors?.filter(({ id }) => id === executor.id) ?? [];
      await sleep(20);
    }
    expect(found).toEqual([
      {
        id: executor.id,
        is_open: true,
        provider: null,
        load: null,
        lacks: { search_engine: 'Set a key.' },
        problem: null,
      },
    ]);
  });

  it('is not for admins of other accounts', async () => {
    const { body } = await gateway.as().post('/v1/admin/accounts').send({ name: 'Curious' }).expect(201);
    await gateway.as(body.api_key).get('/v1/admin/health').expect(403);
  });
});
