import { type RondoClient, RunningRondo } from '@rondo/test-deployment';

describe('a deployment with budgets', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await RunningRondo.start({
      instances: ['demo-model', 'tool-executor', 'agent-worker', 'gateway'],
      settings: {
        gateway: { MAX_RUN_BUDGET_USD: '2', DEFAULT_RUN_BUDGET_TOKENS: '20000' },
        'agent-worker': { ACCOUNT_BUDGET_TOKENS: '40000' },
      },
    });
    client = rondo.client();
  });

  afterAll(() => rondo.stop());

  it('refuses a run with a budget over the maximum, and names the field', async () => {
    const body = { model: 'demo/plain', input: 'Go.', budget: { usd: 3 } };
    const { status, text } = await client.request('POST', '/runs', body);

    expect(status).toBe(422);
    expect(JSON.parse(text)).toMatchObject({ errors: [{ field: 'budget.usd' }] });
  });

  it('ends runs at their default budget, and later runs once the account’s budget is spent', async () => {
    const ends: unknown[] = [];
    for (let round = 0; round < 4; round++) {
      const run = await client.createRun({ model: 'demo/loop:output_bytes=4000', input: 'Go on.' });
      ends.push((await client.waitForRun(run.id)).finish_reason);
    }
    const late = await client.createRun({ model: 'demo/plain', input: 'Greet me.' });

    expect(ends).toEqual(Array(4).fill('budget_exceeded'));
    const settled = await client.waitForRun(late.id);
    expect(settled).toMatchObject({ finish_reason: 'budget_exceeded', usage: { input_tokens: 0, output_tokens: 0 } });
  });
});
