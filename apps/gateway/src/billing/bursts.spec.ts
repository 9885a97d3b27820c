import { pngSource } from '@rondo/contract/testing';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const settings = {
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  WEBHOOK_INTERNAL_HOSTS: ['127.0.0.1:9'],
  ACCOUNT_TIERS: JSON.stringify({
    default: 'usual',
    tiers: { usual: { quotas: { message_bytes: 10_000, image_bytes: 600 } } },
  }),
  ACCOUNT_API_KEYS: 5,
  ACCOUNT_THREADS: 5,
  ACCOUNT_FILE_BYTES: 10_000,
};

let gateway: RunningGateway;
let other: RunningGateway;
let key: string;
beforeAll(async () => {
  gateway = await RunningGateway.start(settings);
  other = await RunningGateway.start({ ...settings, DATABASE_URL: gateway.parts.config.DATABASE_URL });
});
beforeEach(async () => (key = await gateway.toKey('an account')));
afterAll(async () => {
  await other.close();
  await gateway.close();
});

type Sent = { readonly status: number; readonly body: Record<string, unknown> };

/** Resolves to those that were accepted, once each of the others was refused for this quota. */
async function sendAtOnce(
  quota: string,
  send: (client: ReturnType<RunningGateway['as']>, n: number) => PromiseLike<Sent>,
) {
  const clients = [gateway.as(key), other.as(key)];
  const answers = await Promise.all(
    Array.from({ length: 50 }, async (_, n) => {
      const { status, body } = await send(clients[n % 2] ?? gateway.as(key), n);
      return { status, body };
    }),
  );
  const accepted = answers.filter(({ status }) => status < 300);
  const refused = answers.filter(({ status }) => status >= 300);
  expect(new Set(refused.map(({ status, body }) => `${status} ${String(body['quota'] ?? body['code'])}`))).toEqual(
    new Set([`422 ${quota}`]),
  );
  return accepted;
}

const readUsed = async (quota: string): Promise<number> =>
  (await gateway.as(key).get('/v1/balance').expect(200)).body.quotas[quota].used;

const ofSixtyBytesMore = (n: number) => ({ type: 'image', source: pngSource({}, Array<number>(60).fill(n)) });

const makeThread = async (): Promise<string> => (await gateway.as(key).post('/v1/threads').send({})).body.id;

describe('fifty requests at once, at two gateways, exceed no quota of their account', () => {
  it('of API keys', async () => {
    const made = await sendAtOnce('api_keys', (client) =>
      client.post('/v1/api-keys').send({ name: 'another', scopes: ['admin'] }),
    );

    expect(made).toHaveLength(4);
    expect(await readUsed('api_keys')).toBe(5);
  });

  it('of threads', async () => {
    expect(await sendAtOnce('threads', (client) => client.post('/v1/threads').send({}))).toHaveLength(5);
  });

  it('of threads, with runs and forks', async () => {
    const run = await gateway.createRun({ input: 'Go.', tools: [] }, key);
    const made = await sendAtOnce('threads', (client, n) => {
      if (n % 3 === 0) return client.post('/v1/runs').send({ input: 'Go.', tools: [] });
      if (n % 3 === 1) return client.post(`/v1/runs/${run.id}/fork`).send({ at_seq: 1, input: 'Again.' });
      return client.post('/v1/threads').send({});
    });

    expect(made).toHaveLength(4);
    expect(await readUsed('threads')).toBe(5);
  });

  it('of threads, with the triggers that begin one', async () => {
    const run = { input: 'Go.', model: 'demo/plain' };
    const schedule = { name: 'daily', cron: '0 8 * * *', time_zone: 'UTC', thread: 'same', run };
    const made = await sendAtOnce('threads', (client, n) =>
      n % 2
        ? client.post('/v1/schedules').send(schedule)
        : client.post('/v1/triggers').send({ name: 'hook', thread: 'same', overlap: 'queue', run }),
    );
    expect(made).toHaveLength(5);
    const { body } = await gateway
      .as(key)
      .post('/v1/schedules')
      .send({ ...schedule, thread: 'new' })
      .expect(201);

    const change = await gateway.as(key).patch(`/v1/schedules/${body.id}`).send({ thread: 'same' }).expect(422);

    expect(change.body).toMatchObject({ code: 'quota_exceeded', quota: 'threads' });
  });

  it('of bytes of messages, on existing threads', async () => {
    const threads = await Promise.all(Array.from({ length: 5 }, makeThread));
    const content = 'x'.repeat(1_800);
    const made = await sendAtOnce('message_bytes', (client, n) =>
      client.post(`/v1/threads/${threads[n % 5]}/messages`).send({ content }),
    );

    expect(made).toHaveLength(5);
    expect(await readUsed('message_bytes')).toBeLessThanOrEqual(10_000);
  });

  it('of bytes of messages, with runs', async () => {
    const threads = await Promise.all(Array.from({ length: 5 }, makeThread));
    const input = 'x'.repeat(3_000);
    const answers = await Promise.all(
      threads.map((thread_id, n) => (n % 2 ? gateway : other).as(key).post('/v1/runs').send({ thread_id, input })),
    );

    expect(answers.filter(({ status }) => status === 202)).toHaveLength(3);
    expect(await readUsed('message_bytes')).toBeLessThanOrEqual(10_000);
  });

  it('of bytes of images', async () => {
    const threads = await Promise.all(Array.from({ length: 5 }, makeThread));
    const made = await sendAtOnce('image_bytes', (client, n) =>
      client.post(`/v1/threads/${threads[n % 5]}/messages`).send({ content: [ofSixtyBytesMore(n)] }),
    );

    expect(made).toHaveLength(7);
    expect(await readUsed('image_bytes')).toBe(7 * 84);
  });

  it('of bytes of images, with answers to runs that ask', async () => {
    const worker = await TestWorker.start(gateway.database);
    const asking = Array.from({ length: 5 }, async () => {
      const { id } = await gateway.createRun({ input: 'Go.', tools: [] }, key);
      await (await worker.claim(id)).ask('Which one?');
      return id;
    });
    const ids = await Promise.all(asking);
    const answers = await Promise.all(
      ids.map(async (id, n) => {
        const content = [ofSixtyBytesMore(2 * n), ofSixtyBytesMore(2 * n + 1)];
        const client = (n % 2 ? gateway : other).as(key);
        const { status, body } = await client.post(`/v1/runs/${id}/input`).send({ content });
        return status < 300 ? 'taken' : `${status} ${body.quota}`;
      }),
    );
    await worker.close();

    expect(answers.sort()).toEqual(['422 image_bytes', '422 image_bytes', 'taken', 'taken', 'taken']);
    expect(await readUsed('image_bytes')).toBe(6 * 84);
  });

  it('of webhook endpoints', async () => {
    const url = 'http://127.0.0.1:9/';
    const made = await sendAtOnce('too_many_webhook_endpoints', (client) =>
      client.post('/v1/webhooks').send({ url, events: ['run.completed'] }),
    );

    expect(made).toHaveLength(20);
  });

  it('of projects', async () => {
    const { body } = await gateway.as(key).post('/v1/projects').send({}).expect(201);
    await gateway.ownerDatabase.sql.query(
      `insert into projects (id, account_id, name, name_source, is_public)
       select 'prj_' || lpad(n::text, 26, '0'), account_id, name, name_source, false
       from projects, generate_series(1, 9989) as n where id = $1`,
      [body.id],
    );
    const made = await sendAtOnce('too_many_projects', (client) => client.post('/v1/projects').send({}));

    expect(made).toHaveLength(10);
    await gateway.as(key).delete(`/v1/projects/${body.id}`).expect(204);
    await gateway.as(key).post('/v1/projects').send({}).expect(201);
  });

  it('of evaluations', async () => {
    const results = [
      {
        task_id: 'a',
        verdict: 'right',
        run_id: null,
        prediction: 'Paris',
        expected: 'Paris',
        error: null,
        level: null,
        cost_usd: null,
        duration_s: 1,
      },
    ];
    const store = (client: ReturnType<RunningGateway['as']>, name: string) =>
      client.put(`/v1/evaluations/by-name/${name}`).send({ results });
    const { body } = await store(gateway.as(key), 'first').expect(200);
    await gateway.ownerDatabase.sql.query(
      `insert into evaluations (id, account_id, name, summary, results)
       select 'evl_' || lpad(n::text, 26, '0'), account_id, 'e' || n, summary, results
       from evaluations, generate_series(1, 489) as n where id = $1`,
      [body.id],
    );

    expect(await sendAtOnce('too_many_evaluations', (client, n) => store(client, `another${n}`))).toHaveLength(10);
  });

  it('of bytes of memory, in several stores', async () => {
    const make = async (name: string): Promise<string> =>
      (await gateway.as(key).post('/v1/memory-stores').send({ name }).expect(201)).body.id;
    const full = await make('full');
    await gateway.ownerDatabase.sql.query('update memory_stores set size = 256 * 1024 * 1024 - 1000 where id = $1', [
      full,
    ]);
    const stores = await Promise.all(Array.from({ length: 50 }, (_, n) => make(`store${n}`)));
    const content = 'x'.repeat(300);
    const made = await sendAtOnce('memory_quota_exceeded', (client, n) =>
      client.put(`/v1/memory-stores/${stores[n]}/entry`).query({ path: 'a.md' }).send({ content }),
    );

    expect(made).toHaveLength(3);
  });

  it('of files, even empty ones', async () => {
    const upload = (client: ReturnType<RunningGateway['as']>) =>
      client.post('/v1/files').attach('file', Buffer.alloc(0), 'empty.bin');
    const { body } = await upload(gateway.as(key)).expect(201);
    await gateway.ownerDatabase.sql.query(
      `insert into files (id, account_id, name, size, media_type, sha256)
       select 'file_' || lpad(n::text, 26, '0'), account_id, name, size, media_type, sha256
       from files, generate_series(1, 99989) as n where id = $1`,
      [body.id],
    );

    expect(await sendAtOnce('file_quota_exceeded', upload)).toHaveLength(10);
  });

  it('of bytes of files', async () => {
    const made = await sendAtOnce('file_quota_exceeded', (client, n) =>
      client.post('/v1/files').attach('file', Buffer.alloc(3_000), `${n}.bin`),
    );

    expect(made).toHaveLength(3);
    expect(await readUsed('file_bytes')).toBe(9_000);
  });
});
