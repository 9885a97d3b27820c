import { setTimeout as sleep } from 'node:timers/promises';
import { tools } from '@rondo/domain';
import { TestExecutor } from '../testing/test-executor';
import { RunningGateway } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite();

interface Listed {
  readonly data: Record<string, unknown>[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

const list = async (path: string) => (await gateway.as().get(path).expect(200)).body as Listed;

describe.each(['/v1/tools', '/v1/models'])('GET %s', (path) => {
  it('is paged, with each item once', async () => {
    const whole = await list(`${path}?limit=200`);
    expect(whole).toMatchObject({ has_more: false, next_cursor: null });

    const read: object[] = [];
    let page = await list(`${path}?limit=1`);
    while (page.has_more) {
      expect(page.data).toHaveLength(1);
      read.push(...page.data);
      page = await list(`${path}?limit=1&after=${page.next_cursor}`);
    }
    read.push(...page.data);
    expect(read).toEqual(whole.data);
    expect(read.length).toBeGreaterThan(1);
  });

  it.each(['', '!', 'bm90aGluZw', Buffer.from('run_1').toString('base64url')])(
    'refuses the cursor %s',
    async (after) => {
      const { body } = await gateway.as().get(path).query({ after }).expect(400);
      expect(body.code).toBe('invalid_cursor');
    },
  );

  it.each(['limit=0', 'limit=201', 'limit=many'])('refuses ?%s', async (query) => {
    const { body } = await gateway.as().get(`${path}?${query}`).expect(422);
    expect(body.errors).toEqual([{ field: query.split('=')[0], message: expect.any(String) }]);
  });
});

it('GET /v1/tools has all tools, and GET /v1/models lists its providers on each page', async () => {
  expect((await list('/v1/tools?limit=200')).data).toHaveLength(tools.length);
  expect(await list('/v1/models?limit=1')).toMatchObject({ providers: ['demo', 'demo-anthropic'] });
});

describe('GET /v1/tools says why a tool is or is not offered', () => {
  const toolNamed = async (name: string) =>
    (await list('/v1/tools?limit=200')).data.find((tool) => tool['name'] === name) ?? {};

  it('by what executors lack, and by their absence', async () => {
    const executor = await TestExecutor.start({ search_engine: 'No search engine is configured.' });
    try {
      while ((await toolNamed('read_file'))['available'] !== true) await sleep(20);

      expect(await toolNamed('read_file')).toMatchObject({ reason: expect.stringContaining('suna') });
      expect(await toolNamed('http_request')).toMatchObject({
        available: true,
        default_in: [],
        reason: expect.stringContaining('switch its group on'),
      });
      expect(await toolNamed('web_search')).toMatchObject({
        available: false,
        reason: 'No search engine is configured.',
      });
    } finally {
      await executor.close();
    }

    while ((await toolNamed('read_file'))['available'] === true) await sleep(20);
    expect(await toolNamed('read_file')).toMatchObject({ reason: expect.stringContaining('No tool-executor') });
    expect(await toolNamed('sequential_thinking')).toMatchObject({ available: true, default_in: ['suna', 'ii'] });
  });
});

it('an environment beyond what executors offer is refused by its field, wherever it is given', async () => {
  const size = { cpus: 2, memory_mb: 2048, disk_mb: 4096 };
  const offers = { size, size_step: { cpus: 1 }, images: ['python'], packages: ['pip'] };
  const executor = await TestExecutor.start({}, offers);
  try {
    while (!gateway.parts.toolCatalog.executors?.some((heard) => heard.offers)) await sleep(20);
    const environment = { size: { cpus: 999 }, image: 'ruby:3', packages: { npm: ['semver@7.6.3'] } };
    const run = { input: 'Go.', environment };
    const schedule = { name: 'often', cron: '@daily', run };
    for (const [path, body, prefix] of [
      ['/v1/runs', run, ''],
      ['/v1/agents', { definition: { name: 'large', environment } }, 'definition.'],
      ['/v1/schedules', schedule, 'run.'],
    ] as const) {
      const { body: problem } = await gateway.as().post(path).send(body).expect(422);
      expect((problem.errors as { field: string }[]).map(({ field }) => field)).toEqual(
        ['size.cpus', 'image', 'packages.npm'].map((part) => `${prefix}environment.${part}`),
      );
    }
    const send = (cpus: number) =>
      gateway
        .as()
        .post('/v1/runs')
        .send({ input: 'Go.', environment: { size: { cpus } } });
    expect((await send(0.5).expect(422)).body.errors).toEqual([
      { field: 'environment.size.cpus', message: 'must be a whole number on this deployment' },
    ]);
    await send(2).expect(202);
  } finally {
    await executor.close();
  }
});

describe('GET /v1/models says what the account may use', () => {
  it('as its tier has it, at the price that it is charged, and names no key and no address', async () => {
    const free = { usd: 1, allowed_models: ['vllm/llama3', 'demo/plain'], price_factor: 1.5 };
    const limited = await RunningGateway.start({
      ACCOUNT_TIERS: JSON.stringify({ default: 'free', tiers: { free, internal: {} } }),
      MODEL_PROVIDERS: JSON.stringify([
        {
          ...{ name: 'vllm', base_url: 'http://models.internal/v1', headers: { 'x-key': 'the-secret' } },
          models: [{ id: 'llama3', context_window: 8_192, price: { input: 0.1, output: 0.2, cache_read: 0.05 } }],
        },
      ]),
    });
    try {
      const { body: made } = await limited.as().post('/v1/admin/accounts').send({ name: 'Tenant' }).expect(201);
      const own = limited.as(made.api_key as string);
      const tierName = `/v1/admin/accounts/${made.account.id}/tier`;
      const modelNamed = async (id: string) =>
        ((await own.get('/v1/models?limit=200').expect(200)).body as Listed).data.find((model) => model['id'] === id);

      expect(await modelNamed('vllm/llama3')).toMatchObject({
        ...{ allowed: true, context_window: 8_192, default_in: [] },
        price: { input: 0.1, output: 0.2, cache_read: 0.05 },
        charged_price: { input: 0.15, output: 0.3, cache_read: 0.075 },
      });
      expect(await modelNamed('demo/coder')).toMatchObject({
        ...{ allowed: false, default: true, default_in: ['suna', 'ii', 'symphony'] },
      });
      const { text } = await own.get('/v1/models?limit=200').expect(200);
      expect(text).not.toMatch(/the-secret|models\.internal/);

      await limited.as().put(tierName).send({ tier: 'internal', price_factor: 2 }).expect(200);
      expect(await modelNamed('vllm/llama3')).toMatchObject({ allowed: true, charged_price: { input: 0.2 } });
      expect(await modelNamed('demo/coder')).toMatchObject({ allowed: true });
    } finally {
      await limited.close();
    }
  });
});

describe('names of models', () => {
  it('may be aliases of the deployment, which a run no longer has', async () => {
    const named = await RunningGateway.start({
      DEFAULT_MODEL: 'usual',
      MODEL_ALIASES: '{"usual": "demo/plain", "writer": "demo/coder"}',
    });
    try {
      const { body: usual } = await named.as().post('/v1/runs').send({ input: 'Hi.' }).expect(202);
      const { body: run } = await named.as().post('/v1/runs').send({ input: 'Hi.', model: 'writer' }).expect(202);
      const { body: models } = await named.as().get('/v1/models').expect(200);
      const { body: refused } = await named.as().post('/v1/runs').send({ input: 'Hi.', model: 'unknown' }).expect(422);

      expect([usual.model, run.model, run.settings.model]).toEqual(['demo/plain', 'demo/coder', 'demo/coder']);
      expect(models.data).toContainEqual(
        expect.objectContaining({ id: 'demo/plain', default: true, aliases: ['usual'] }),
      );
      expect(refused.errors).toEqual([{ field: 'model', message: expect.stringContaining('provider/model') }]);
    } finally {
      await named.close();
    }
  });
});
