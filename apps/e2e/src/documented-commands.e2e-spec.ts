import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RondoClient, RunningRondo } from '@rondo/test-deployment';
import { hasJq, runDocumented } from './documented-commands';

const settings = {
  ACCOUNT_TIERS: JSON.stringify({ default: 'internal', tiers: { internal: {}, pro: { usd: 100 } } }),
  MODEL_PRICES: JSON.stringify({ 'demo/ask': [{ input: 1, output: 1 }] }),
};

/** Without `jq`, which the pages use, nothing can be said about them. */
(hasJq ? describe : describe.skip)('the commands of the documentation', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let cwd: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    rondo = await RunningRondo.start({
      instances: ['demo-model', 'tool-executor', 'agent-worker', 'summarizer', 'gateway'],
      settings: { gateway: settings, 'agent-worker': settings, summarizer: settings },
    });
    client = rondo.client();
    cwd = mkdtempSync(join(tmpdir(), 'rondo-documented-'));
    mkdirSync(join(cwd, '.data'));
    writeFileSync(join(cwd, '.data/api-key'), client.key);
    for (const name of ['sales.csv', 'data.csv']) writeFileSync(join(cwd, name), 'month,sum\n1,2\n');
    env = await variables();
  });
  afterAll(async () => {
    await rondo.stop();
    rmSync(cwd, { recursive: true });
  });

  /** What the reader of a page has already: keys, an account, and a run that waits. */
  async function variables(): Promise<Record<string, string>> {
    const run = await client.createRun({ model: 'demo/ask', input: 'Paint it.', budget: { usd: 1 } });
    await client.waitForRun(run.id);
    const made = await client.json<{ account: { id: string } }>('POST', '/admin/accounts', { name: 'Customer' });
    return {
      ...{ URL: client.url, KEY: client.key, ADMIN_KEY: client.key, TOKEN: client.key },
      ...{ RUN: run.id, ACCOUNT: made.account.id, RONDO_URL: client.url, RONDO_API_KEY: client.key },
    };
  }

  it.each([
    ['approvals', /"waiting_input","approval".*"outcome":"approve"/s],
    ['billing', /"tier":"pro".*"credit_usd":10/s],
    ['browsers', /event: run\.completed.*thr_/s],
    ['caller-tools', /"waiting_tool","caller_tools".*"get_weather","Bergen".*completed\ncompleted/s],
    ['lists', /"queued":.*"waiting_input":[1-9]/],
    ['memory', /"version":2.*"excerpt":"[^"]*likes coffee.*"caller_id":"key_.*"status":"queued".*"name":"handbook"/s],
    ['operations', /"cause":"answer"/],
    ['projects', /"is_public":true.*prj_/s],
    ['schedules', /"next_fires":\[/],
    ['sign-in', /HttpOnly.*open http:.*"action":"account\.create"/s],
    ['skills', /csv-totals +version 1.*program +\d+ +scripts\/total\.sh.*awk/s],
    ['tell-a-run', /"queued_as":"run_.*\["stopped",null\]/s],
    ['uploads', /"name":"sales\.csv"/],
    ['users', /"threads":[1-9].*"active_runs":0/s],
    ['workspace-files', /in\/data\.csv/],
  ])('docs/%s.md do what they say', async (page, expected) => {
    expect(await runDocumented(page, { url: client.url, cwd, env })).toMatch(expected);
  });
});
