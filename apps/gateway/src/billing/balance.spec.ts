import type { Balance, Execution, NewFact } from '@rondo/contract';
import { modelCallId } from '@rondo/contract';
import { newUlid } from '@rondo/platform';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const ACCOUNT_TIERS = JSON.stringify({
  default: 'free',
  tiers: {
    free: { usd: 1, allowed_models: ['demo/*', 'demo-anthropic/plain'] },
    pro: { usd: 10, period: 'day', max_active_runs: 2 },
    prepaid: { usd: 0 },
    internal: {},
    dear: { usd: 10, price_factor: 1.5 },
  },
});

const MODEL_PROVIDERS = JSON.stringify([
  { name: 'vllm', base_url: 'http://127.0.0.1:1/v1', models: [{ id: 'llama3' }] },
]);

const gateway = RunningGateway.forSuite({ ACCOUNT_TIERS, MODEL_PROVIDERS });
let worker: TestWorker;
beforeAll(async () => {
  worker = await TestWorker.start(gateway.ownerDatabase, {
    settlesAt: { usual: 1, tiers: { dear: 1.5 } },
  });
});
afterAll(async () => {
  await worker.close();
});

interface Tenant {
  readonly id: string;
  readonly key: string;
}

async function tenant(tier?: string): Promise<Tenant> {
  const { body } = await gateway.as().post('/v1/admin/accounts').send({ name: 'Tenant' }).expect(201);
  const { id } = body.account as { id: string };
  if (tier !== undefined) await setTier(id, tier).expect(200);
  return { id, key: body.api_key as string };
}

const setTier = (id: string, tier: string) => gateway.as().put(`/v1/admin/accounts/${id}/tier`).send({ tier });
const give = (id: string, usd: number) => gateway.as().post(`/v1/admin/accounts/${id}/credits`).send({ usd });
const post = ({ key }: Tenant, more: object = {}) =>
  gateway
    .as(key)
    .post('/v1/runs')
    .send({ input: 'Go.', ...more });

async function readBalance({ key }: Tenant): Promise<Balance> {
  return (await gateway.as(key).get('/v1/balance').expect(200)).body as Balance;
}

const usage = (cost_usd: number): NewFact => ({
  type: 'usage.recorded',
  iteration: 1,
  data: {
    ...{ model_call_id: modelCallId.parse(`mdl_${newUlid()}`), model: 'demo/plain', finish_reason: 'stop' },
    ...{ input_tokens: 1, cached_tokens: 0, output_tokens: 1, cost_usd, estimated: false },
    ...{ duration_ms: 1, first_token_ms: null },
  },
});

/** A run of the account that has ended and cost this. */
async function spend(account: Tenant, usd: number): Promise<void> {
  const run = await gateway.createRun({ input: 'Go.' }, account.key);
  const claim = await worker.claim(run.id);
  await claim.append([usage(usd)]);
  await claim.complete();
}

describe('the balance of an account', () => {
  it('shows its tier, what it has spent in the period and what is left', async () => {
    const account = await tenant();
    await spend(account, 0.25);

    expect(await readBalance(account)).toEqual({
      tier: 'free',
      allowed_models: ['demo/*', 'demo-anthropic/plain'],
      max_active_runs: null,
      period: 'month',
      period_start: expect.stringMatching(/-01T00:00:00.000Z$/),
      period_end: expect.stringMatching(/-01T00:00:00.000Z$/),
      allowance_usd: 1,
      spent_usd: 0.25,
      reserved_usd: 0,
      credit_usd: 0,
      available_usd: 0.75,
      price_factor: 1,
      quotas: expect.objectContaining({ threads: { used: 1, limit: 100_000 } }),
    });
  });

  it('is counted anew for the period of another tier', async () => {
    const account = await tenant();
    await spend(account, 0.25);

    const { body } = await setTier(account.id, 'pro').expect(200);

    expect(body).toMatchObject({ tier: 'pro', period: 'day', spent_usd: 0.25, available_usd: 9.75 });
  });

  it('is charged by the price factor of the tier, or of the account, and usage shows cost and charge', async () => {
    const account = await tenant('dear');
    await spend(account, 0.5);
    expect(await readBalance(account)).toMatchObject({ spent_usd: 0.75, available_usd: 9.25, price_factor: 1.5 });

    const path = `/v1/admin/accounts/${account.id}/tier`;
    const { body } = await gateway.as().put(path).send({ tier: 'dear', price_factor: 2 }).expect(200);
    await spend(account, 0.5);

    expect(body).toMatchObject({ spent_usd: 0.75, price_factor: 2 });
    const { body: usage } = await gateway.as(account.key).get('/v1/usage').expect(200);
    expect(usage.total).toMatchObject({ cost_usd: 1, charged_usd: 1.75 });
    const { body: entries } = await gateway.as(account.key).get('/v1/usage/entries').expect(200);
    expect(entries.data).toMatchObject([
      { cost_usd: 0.5, price_factor: 2, charged_usd: 1 },
      { cost_usd: 0.5, price_factor: 1.5, charged_usd: 0.75 },
    ]);
  });

  it.each([0, -1, 100.5, 1.0000001, '1.5'])('is not given the price factor %j', async (price_factor) => {
    const { id } = await tenant();

    const path = `/v1/admin/accounts/${id}/tier`;
    const { body } = await gateway.as().put(path).send({ tier: 'pro', price_factor }).expect(422);

    expect(body.errors).toMatchObject([{ field: 'price_factor' }]);
  });

  it('is not limited by a tier without an amount', async () => {
    const account = await tenant('internal');
    await spend(account, 50);

    expect(await readBalance(account)).toMatchObject({ spent_usd: 50, allowance_usd: null, available_usd: null });
    await post(account).expect(202);
  });

  it('is found by the operator in the list of accounts, with its tier', async () => {
    const [usual, pro] = [await tenant(), await tenant('pro')];

    const { body } = await gateway.as().get('/v1/admin/accounts?limit=3').expect(200);
    const next = await gateway.as().get(`/v1/admin/accounts?after=${body.next_cursor}`).expect(200);

    const account = { name: 'Tenant', created_at: expect.any(String) };
    expect(body).toMatchObject({
      data: [
        { id: 'acc_admin', tier: 'free' },
        { ...account, id: pro.id, tier: 'pro' },
        { ...account, id: usual.id, tier: 'free' },
      ],
      has_more: true,
      tiers: ['free', 'pro', 'prepaid', 'internal', 'dear'],
    });
    expect(JSON.stringify(next.body)).not.toContain(usual.id);
    await gateway.as(pro.key).get('/v1/admin/accounts').expect(403);
    await gateway.as().get('/v1/admin/accounts?after=x').expect(400);
  });

  it('is given credit once, however often the request is sent', async () => {
    const account = await tenant('prepaid');
    const request = () => give(account.id, 2.5).set('Idempotency-Key', 'invoice 1');

    const first = await request().expect(201);
    const second = await request().expect(201);
    await give(account.id, -1).expect(201);

    expect(second.body).toEqual(first.body);
    expect(await readBalance(account)).toMatchObject({ credit_usd: 1.5, available_usd: 1.5 });
    const { body: audit } = await gateway.as().get('/v1/audit?action=account.credit&limit=200').expect(200);
    const { data } = audit as { data: { target: string }[] };
    expect(data.filter(({ target }) => target === account.id)).toHaveLength(2);
  });
});

describe('a new run', () => {
  it('is refused with 402 when the allowance is used up, until there is credit', async () => {
    const account = await tenant();
    await spend(account, 1);

    const { body } = await post(account).set('Idempotency-Key', 'again').expect(402);
    expect(body).toMatchObject({ code: 'balance_exhausted', detail: expect.stringContaining('1 USD per month') });
    const { quotas: _, ...balance } = await readBalance(account);
    expect(body).toMatchObject({ balance });

    await give(account.id, 1).expect(201);
    await post(account).set('Idempotency-Key', 'again').expect(202);
  });

  it('is refused with 403 and the models of the tier when it names another one', async () => {
    const account = await tenant();

    for (const more of [{ model: 'demo-anthropic/coder' }, { context: { summary_model: 'vllm/llama3' } }]) {
      const { body } = await post(account, more).expect(403);
      expect(body).toMatchObject({ code: 'model_not_allowed', allowed_models: ['demo/*', 'demo-anthropic/plain'] });
    }
    const fallbacks = [{ model: 'demo-anthropic/coder' }, { model: 'demo/plain' }];
    const { body } = await post(account, { model: 'demo-anthropic/plain', fallbacks }).expect(202);
    expect(body.settings.fallbacks).toEqual([{ model: 'demo/plain' }]);
  });

  it('is refused when it is one more than the tier allows', async () => {
    const account = await tenant('pro');
    for (const _ of [1, 2]) await post(account).expect(202);

    const { body } = await post(account).expect(429);
    expect(body).toMatchObject({ code: 'too_many_active_runs', detail: expect.stringContaining('the tier pro') });
  });

  it('is refused when the price of its model is not known, since the limit could not be enforced', async () => {
    const { body } = await post(await tenant('pro'), { model: 'vllm/llama3' }).expect(422);
    expect(body.errors).toEqual([{ field: 'model', message: expect.stringContaining('MODEL_PRICES') }]);
    await post(await tenant('internal'), { model: 'vllm/llama3' }).expect(202);
  });

  it('is refused the same way over a socket and on a thread', async () => {
    const account = await tenant('prepaid');
    const socket = gateway.socket(account.key);
    const answer: unknown = await socket.emitWithAck('run.create', { input: 'Go.' });
    expect(answer).toMatchObject({ error: { code: 'balance_exhausted', status: 402 } });

    const { body: thread } = await gateway.as(account.key).post('/v1/threads').send({}).expect(201);
    await gateway.as(account.key).post(`/v1/threads/${thread.id}/runs`).send({ input: 'Go.' }).expect(402);
  });

  it('is refused to a schedule too, and the execution says why', async () => {
    const account = await tenant('prepaid');
    const as = gateway.as(account.key);
    const schedule = { name: 'hourly', cron: '0 * * * *', run: { input: 'Go.' } };
    const { body: made } = await as.post('/v1/schedules').send(schedule).expect(201);

    await as.post(`/v1/schedules/${made.id}/run`).send({}).expect(402);
    await gateway.ownerDatabase.sql.query(`update triggers set next_fire_at = now() - interval '1 s' where id = $1`, [
      made.id,
    ]);
    let executions: Execution[] = [];
    while (executions.length === 0) {
      executions = (await as.get(`/v1/schedules/${made.id}/executions`).expect(200)).body.data as Execution[];
    }
    expect(executions).toMatchObject([{ status: 'failed', error: { code: 'balance_exhausted' } }]);
  });
});

describe('attack: money', () => {
  it('an account sets its own tier, gives itself credit and reads the balance of another', async () => {
    const [one, other] = [await tenant('prepaid'), await tenant()];
    const as = gateway.as(one.key);

    await as.put(`/v1/admin/accounts/${one.id}/tier`).send({ tier: 'internal' }).expect(403);
    await as.post(`/v1/admin/accounts/${one.id}/credits`).send({ usd: 5 }).expect(403);
    await as.get(`/v1/admin/accounts/${other.id}/balance`).expect(403);
    expect(await readBalance(one)).toMatchObject({ tier: 'prepaid', available_usd: 0 });
  });

  it('amounts that are none, tiers that do not exist, accounts that are unknown', async () => {
    const { id } = await tenant();
    for (const usd of [0, 1e9, '5', null]) {
      const { body } = await gateway.as().post(`/v1/admin/accounts/${id}/credits`).send({ usd }).expect(422);
      expect(body.errors).toMatchObject([{ field: 'usd' }]);
    }
    const { body } = await setTier(id, 'gold').expect(422);
    expect(body.errors).toEqual([{ field: 'tier', message: 'must be one of free, pro, prepaid, internal, dear' }]);
    for (const unknown of ['acc_none', 'nonsense']) {
      await setTier(unknown, 'pro').expect(404);
      await give(unknown, 1).expect(404);
      await gateway.as().get(`/v1/admin/accounts/${unknown}/balance`).expect(404);
    }
  });
});
