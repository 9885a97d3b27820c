import { setTimeout as delay } from 'node:timers/promises';
import { type RondoClient, type RunView, RunningRondo, command, scriptInput } from '@rondo/test-deployment';

/** Each call costs cents, so that a dollar is spent within a few. */
const price = [{ input: 10, output: 10 }];
const ACCOUNT_TIERS = JSON.stringify({
  default: 'free',
  tiers: { free: { usd: 1, allowed_models: ['demo/*'] }, prepaid: { usd: 0 }, dear: { usd: 1, price_factor: 1.5 } },
});
const everyService = {
  ACCOUNT_TIERS,
  MODEL_PRICES: JSON.stringify({ 'demo/loop': price, 'demo/scripted': price, 'demo/plain': price }),
};

interface Balance {
  readonly spent_usd: number;
  readonly reserved_usd: number;
  readonly credit_usd: number;
  readonly available_usd: number;
}

interface Spent extends RunView {
  readonly usage: { readonly cost_usd: number };
}

describe('a deployment with limited accounts', () => {
  let rondo: RunningRondo;
  let operator: RondoClient;

  beforeAll(async () => {
    rondo = await RunningRondo.start({
      instances: ['demo-model', 'tool-executor', 'agent-worker', 'agent-worker', 'gateway'],
      settings: { gateway: everyService, 'agent-worker': everyService },
    });
    operator = rondo.client();
  });

  afterAll(async () => {
    expect(await rondo.violations()).toMatchObject([]);
    await rondo.stop();
  });

  const readBalance = (client: RondoClient) => client.json<Balance>('GET', '/balance');
  const readProblem = async (client: RondoClient, body: object) => {
    const { status, text } = await client.request('POST', '/runs', body);
    return { status, ...(JSON.parse(text) as object) };
  };

  /** What was reserved for calls of dead workers is returned by a sweep, soon after. */
  async function settledBalance(client: RondoClient): Promise<Balance> {
    for (;;) {
      const balance = await readBalance(client);
      if (balance.reserved_usd === 0) return balance;
      await delay(50);
    }
  }

  it.each([
    ['free', 1],
    ['dear', 1.5],
  ])(
    'spends no more than the allowance of %s with parallel runs, while workers are killed (I1) (I3)',
    async (tier, factor) => {
      const { id: account, client } = await operator.newAccount();
      await operator.json('PUT', `/admin/accounts/${account}/tier`, { tier });
      const endless = {
        model: 'demo/loop',
        input: 'Go on.',
        limits: { max_iterations: 100 },
        llm: { max_tokens: 500 },
      };
      const runs = await Promise.all([1, 2, 3, 4].map(() => client.createRun(endless)));

      await client.waitForEvent(runs[0]?.id ?? '', 'tool.completed');
      await rondo.services.get('agent-worker').kill();
      await rondo.services.get('agent-worker-2').kill();
      const ended = await Promise.all(runs.map(({ id }) => client.waitForRun(id)));

      expect(ended.map(({ finish_reason }) => finish_reason)).toEqual(Array(4).fill('budget_exceeded'));
      const { spent_usd: spent, credit_usd: credit } = await settledBalance(client);
      const { total } = await client.json<{ total: { cost_usd: number; charged_usd: number } }>('GET', '/usage');
      const ofRuns = (ended as Spent[]).reduce((sum, { usage }) => sum + usage.cost_usd, 0);
      expect(total.charged_usd).toBeCloseTo(spent, 9);
      expect(total.cost_usd * factor).toBeCloseTo(spent, 9);
      expect(ofRuns * factor).toBeCloseTo(spent, 9);
      expect(spent).toBeLessThanOrEqual(1);
      expect(credit).toBe(0);
    },
  );

  it('refuses runs with 402 without money and with 403 for other models, and accepts them with credit', async () => {
    const { id, client } = await operator.newAccount();
    await operator.json('PUT', `/admin/accounts/${id}/tier`, { tier: 'prepaid' });
    const run = { model: 'demo/plain', input: 'Greet me.' };

    expect(await readProblem(client, run)).toMatchObject({ status: 402, code: 'balance_exhausted' });
    await operator.json('POST', `/admin/accounts/${id}/credits`, { usd: 1 });
    const ended = await client.waitForRun((await client.createRun(run)).id);
    expect(ended.finish_reason).toBe('stop');
    const { spent_usd: spent, credit_usd: credit } = await settledBalance(client);
    expect(credit).toBeCloseTo(1 - spent, 9);
    expect(spent).toBeGreaterThan(0);

    await operator.json('PUT', `/admin/accounts/${id}/tier`, { tier: 'free' });
    const refused = await readProblem(client, { ...run, model: 'demo-anthropic/plain' });
    expect(refused).toMatchObject({ status: 403, code: 'model_not_allowed', allowed_models: ['demo/*'] });
  });

  it('parks a run for its budget, and goes on when it is raised, though its worker is killed then', async () => {
    const { client } = await operator.newAccount();
    const task = scriptInput('Twice.', [
      { calls: [command('echo one >> effects')] },
      { calls: [command('echo two >> effects; sleep 1')] },
      { calls: [command('cat effects')] },
      { text: 'Done.' },
    ]);
    const budget = { usd: 0.0001, on_exceeded: 'wait' };
    const { id } = await client.createRun({ ...task, budget, llm: { max_tokens: 500 } });
    const parked = await client.waitForRun(id);
    expect(parked.status).toBe('waiting_budget');

    await client.json('POST', `/runs/${id}/budget`, { usd: 0.9 });
    await client.waitForEvent(id, 'tool.completed');
    await rondo.services.get('agent-worker').kill();
    await rondo.services.get('agent-worker-2').kill();

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed', finish_reason: 'stop' });
    expect((await client.toolOutputs(id)).at(-1)).toBe('one\ntwo\n');
    const types = (await client.facts(id)).map(({ type }) => type);
    expect(types.filter((type) => type === 'budget.raised')).toHaveLength(1);
    expect(types.filter((type) => type === 'run.waiting')).toHaveLength(1);
    expect((await settledBalance(client)).spent_usd).toBeLessThanOrEqual(1);
  });

  it('raises a budget while the run ends: the run goes on, or the raise is refused', async () => {
    const { client } = await operator.newAccount();
    const short = { model: 'demo/plain', input: 'Greet me.', llm: { max_tokens: 500 } };
    const runs = await Promise.all([1, 2, 3].map(() => client.createRun({ ...short, budget: { usd: 0.5 } })));

    const raises = runs.map(async ({ id }) => {
      for (let usd = 0.51; ; usd += 0.01) {
        const { status } = await client.request('POST', `/runs/${id}/budget`, { usd });
        if (status !== 202) return status;
      }
    });
    const ended = await Promise.all(runs.map(({ id }) => client.waitForRun(id)));

    expect(await Promise.all(raises)).toEqual([409, 409, 409]);
    expect(ended.map(({ finish_reason }) => finish_reason)).toEqual(['stop', 'stop', 'stop']);
    for (const { id } of runs) {
      const facts = await client.facts(id);
      expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, index) => index + 1));
      expect(facts.at(-1)?.type).toBe('run.completed');
    }
  });
});
