import { type NewFact, modelCallId } from '@rondo/contract';
import { newUlid } from '@rondo/platform';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';
import { toCsv } from './usage.controller';

const gateway = RunningGateway.forSuite();
const worker = TestWorker.forSuite(gateway);

const used = (input_tokens: number, model = 'demo/coder'): NewFact => ({
  type: 'usage.recorded',
  iteration: 1,
  data: {
    model_call_id: modelCallId.parse(`mdl_${newUlid()}`),
    model,
    ...{ input_tokens, cached_tokens: 0, output_tokens: 1, cost_usd: 0.25, estimated: false },
    ...{ finish_reason: 'stop', duration_ms: 1, first_token_ms: null },
  },
});

/** A run of a new account that made these model calls, and a client with the account's key. */
async function runWith(...facts: NewFact[]) {
  const key = await gateway.toKey('customer');
  const run = await gateway.createRun({ input: 'Go.' }, key);
  await (await worker.claim(run.id)).append(facts);
  return { run, api: gateway.as(key) };
}

const runThatUsed = (...tokens: number[]) => runWith(...tokens.map((count) => used(count)));

describe('GET /v1/usage', () => {
  it('sums up the calls of the account, equal to what the run says', async () => {
    const { run, api } = await runThatUsed(3, 4);
    const { body: usage } = await api.get(`/v1/usage?group_by=day,model&run_id=${run.id}`).expect(200);
    const { usage: own } = (await api.get(`/v1/runs/${run.id}`).expect(200)).body;

    expect(usage.total).toMatchObject({ ...own, calls: 2, unpriced_calls: 0, estimated_calls: 0 });
    expect(usage.data).toEqual([
      { ...usage.total, model: 'demo/coder', day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
    ]);
    const { body: elsewhere } = await gateway
      .as(await gateway.toKey('other'))
      .get(`/v1/usage?run_id=${run.id}`)
      .expect(200);
    expect(elsewhere).toMatchObject({ data: [], total: { calls: 0, cost_usd: null } });
  });

  it('is CSV for who accepts only that', async () => {
    const { api } = await runThatUsed(3, 4);
    const { text, type } = await api.get('/v1/usage?group_by=model,agent').set('Accept', 'text/csv').expect(200);

    expect(type).toBe('text/csv');
    expect(text).toBe(
      'model,agent_id,calls,input_tokens,cached_tokens,output_tokens,cost_usd,unpriced_calls,estimated_calls,charged_usd\r\n' +
        'demo/coder,,2,7,0,2,0.5,0,0,0.5\r\n',
    );
  });

  it('says of a table that it does not have all rows', async () => {
    const { api } = await runWith(used(3), used(4, 'demo/other'));
    const readTable = (limit: number) =>
      api.get(`/v1/usage?group_by=model&limit=${limit}`).set('Accept', 'text/csv').expect(200);

    expect((await readTable(1)).headers).toMatchObject({ 'x-has-more': 'true' });
    expect((await readTable(2)).headers).not.toHaveProperty('x-has-more');
  });

  it('lists the calls, page by page, as JSON and as CSV', async () => {
    const { run, api } = await runThatUsed(3, 4);
    const { body: first } = await api.get('/v1/usage/entries?limit=1').expect(200);
    const second = await api
      .get(`/v1/usage/entries?limit=1&after=${first.next_cursor}`)
      .set('Accept', 'text/csv')
      .expect(200);

    expect(first.data).toMatchObject([{ run_id: run.id, thread_id: run.thread_id, agent_id: null, input_tokens: 4 }]);
    expect(second.text.split('\r\n')[1]).toContain(`,${run.id},${run.thread_id},,1,demo/coder,stop,3,0,1,0.25,false,`);
    expect(second.headers).not.toHaveProperty('x-next-cursor');
  });

  it.each([
    ['group_by=hour', 'group_by'],
    ['from=2026-02-01&to=2026-01-01', 'from'],
    ['from=2020-01-01&to=2026-01-01', 'from'],
    ['from=yesterday', 'from'],
    ['limit=0', 'limit'],
    ['run_id=1', 'run_id'],
    ['color=red', 'color'],
  ])('refuses ?%s and names the field', async (query, field) => {
    const { body } = await gateway.as().get(`/v1/usage?${query}`).expect(422);
    expect(JSON.stringify(body.errors)).toContain(`"${field}`);
  });
});

describe('CSV', () => {
  it('quotes what needs it, and disarms what a spreadsheet would calculate', () => {
    const rows = [{ a: 'x,"y"', b: 1.5 }, { a: '=1+1', b: null }, { a: 'two\nlines' }];
    expect(toCsv(['a', 'b'], rows)).toBe(`a,b\r\n"x,""y""",1.5\r\n'=1+1,\r\n"two\nlines",\r\n`);
  });
});
