import { readFileSync } from 'node:fs';
import { RondoClient, type RunningRondo } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, startConsole, stopConsole } from './console-browser';

const ACCOUNT_TIERS = JSON.stringify({
  default: 'internal',
  tiers: { internal: {}, pro: { usd: 100, allowed_models: ['demo/*'], max_active_runs: 5 } },
});

describe('the console for those who operate an account', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ rondo, client, browser, page } = await startConsole({
      instances: ['demo-model', 'tool-executor', 'agent-worker', 'summarizer', 'gateway'],
      settings: { gateway: { ACCOUNT_TIERS }, 'agent-worker': { ACCOUNT_TIERS }, summarizer: { ACCOUNT_TIERS } },
    }));
  });

  afterAll(async () => {
    await stopConsole({ rondo, browser });
  });

  const statusWith = async (key: string, method = 'GET', path = '/runs', body?: unknown) =>
    (await new RondoClient(client.url, key).request(method, path, body)).status;

  it('creates a key that is shown once and can do what its scope says, and revokes it', async () => {
    await browser.open('/console/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('dashboard');
    await page.getByLabel('May').selectOption('read');
    await page.getByLabel('Expires').fill('2099-12-31T08:30');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const shown = page.getByRole('region', { name: 'The key “dashboard”' });
    const key = await shown.locator('code').innerText();
    await browser.expectAccessible('a new key');
    expect([await statusWith(key), await statusWith(key, 'POST', '/runs', { input: 'Hi.' })]).toEqual([200, 403]);

    await shown.getByRole('button', { name: 'I have kept it' }).click();
    expect(await page.content()).not.toContain(key);
    await page.getByRole('button', { name: 'Revoke dashboard' }).click();
    await browser.expectAccessible('a question before something is done');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page
      .getByRole('row', { name: /dashboard.*2099/ })
      .getByText(/revoked/)
      .waitFor();
    expect(await statusWith(key)).toBe(401);
  });

  it('says as whom the browser is signed in', async () => {
    type Names = Record<'account_id' | 'account_name' | 'caller_id' | 'caller_name', string>;
    const who = await client.json<Names>('GET', '/session');
    const shown = page.getByLabel('Signed in as');
    expect(await shown.getByTitle(who.account_id).innerText()).toBe(who.account_name);
    expect(await shown.getByTitle(who.caller_id).innerText()).toBe(who.caller_name);
    await shown.getByText('admin, operates the deployment').waitFor();
  });

  it('creates an account, whose key works', async () => {
    await page.getByRole('button', { name: 'New account' }).click();
    await page.getByLabel('Name of the account').fill('Another team');
    await page.getByRole('button', { name: 'Create account' }).click();
    const shown = page.getByRole('region', { name: /The admin key of “Another team”/ });
    expect(await statusWith(await shown.locator('code').innerText())).toBe(200);
    await shown.getByRole('button', { name: 'I have kept it' }).click();
  });

  it('gives the account another tier and credit, and takes credit back', async () => {
    const { data } = await client.json<{ data: { id: string; name: string }[] }>('GET', '/admin/accounts');
    const { id } = data.find(({ name }) => name === 'Another team') ?? { id: 'none' };
    const row = page.getByRole('region', { name: 'Accounts' }).getByRole('row', { name: /Another team/ });
    await row.getByRole('button').click();
    const dialog = page.getByRole('dialog', { name: 'Tier and credit of “Another team”' });
    await dialog.getByText('This account may spend any amount.').waitFor();
    await dialog.getByLabel('Tier', { exact: true }).selectOption('pro');
    await dialog.getByRole('button', { name: 'Set the tier' }).click();
    await dialog.getByText('The tier is pro now.').waitFor();

    const give = async (usd: string) => {
      await dialog.getByLabel('Credit, in USD').fill(usd);
      await dialog.getByLabel('Reason').fill('invoice 118');
      await dialog.getByRole('button', { name: 'Give credit' }).click();
    };
    await give('0');
    await dialog.getByRole('alert').getByText('This must not be 0.').waitFor();
    await give('12.5');
    await dialog.getByText('$12.50 were given.').waitFor();
    await give('-2');
    await dialog.getByText('$2.00 were taken back.').waitFor();
    await dialog.getByText('$110.50').waitFor();
    expect(await client.json('GET', `/admin/accounts/${id}/balance`)).toMatchObject({ tier: 'pro', credit_usd: 10.5 });

    await browser.expectThisAccessibleInEveryLook('the tier and credit of an account');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await row.getByRole('cell', { name: 'pro', exact: true }).waitFor();
  });

  it('the audit log has what was done', async () => {
    await page.getByRole('link', { name: 'Audit log' }).click();
    const acts = page.getByRole('region', { name: 'Acts' });
    await acts.getByText('api_key.revoke').waitFor();
    await acts.getByText('account.create').waitFor();
    await acts.getByText('account.tier').waitFor();
    await page.getByLabel('Action').fill('api_key.create');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(/action=api_key\.create/);
    await acts.getByText('api_key.revoke').waitFor({ state: 'detached' });
    expect(await acts.getByText('api_key.create').count()).toBe(1);
    await page.getByLabel('Outcome').selectOption('refused');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('No entry matches these filters.').waitFor();
  });

  it('shows what models have used, as a chart that can be read, as tables, and as a file', async () => {
    const run = await client.createRun({ model: 'demo/plain', input: 'Count me.' });
    await client.waitForRun(run.id);
    await browser.open('/console/usage?measure=calls&days=7');
    await page.getByRole('img', { name: /Calls per day, from .* to .*: 1 in all, most of it 1 on / }).waitFor();
    const models = page.getByRole('region', { name: 'Usage by model' });
    expect(await models.getByRole('row', { name: 'demo/plain' }).getByRole('cell').first().innerText()).toBe('1');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^usage-from-.*\.csv$/);
    expect(readFileSync(await download.path(), 'utf8')).toMatch(/^day,model,agent_id.*\r?\n.*demo\/plain/);
  });

  it('raises a budget in the inbox, and the run goes on', async () => {
    const budget = { tokens: 10, on_exceeded: 'wait' };
    const run = await client.createRun({ model: 'demo/plain', input: 'Spend.', budget });
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'waiting_budget' });
    await browser.open('/console/inbox');
    await page.getByText('demo/plain', { exact: true }).waitFor();
    await page.getByText(/^has waited \d/).waitFor();
    const form = page.getByRole('form', { name: 'Raise the budget' });
    await form.getByLabel('New budget, in tokens').fill('100000');
    await form.getByRole('button', { name: 'Raise, and go on' }).click();
    await page.getByText('Nothing waits for you.').waitFor();
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
  });

  it('shows what the deployment does, and says so when no worker is left', async () => {
    const run = await client.createRun({ model: 'demo/long:tokens=3000', input: 'Keep a worker busy.' });
    await browser.open('/console/health');
    await page.getByText('Everything answers, and nothing waits without a reason.').waitFor();
    await page.getByRole('region', { name: 'Workers' }).getByRole('row').nth(1).waitFor();
    await page.getByRole('region', { name: 'Executors' }).getByText('open').waitFor();

    await rondo.services.get('agent-worker').stop();
    await page.getByText(/No agent-worker takes jobs from the queue “runs”/).waitFor();
    await browser.expectAccessible('a deployment without workers');
    await rondo.services.get('agent-worker').start();
    await page.getByText(/No agent-worker/).waitFor({ state: 'detached' });
    await client.json('POST', `/runs/${run.id}/stop`, {});
    await client.waitForRun(run.id);
  });

  it('has no fault that axe finds', async () => {
    const paths = ['keys', 'keys/audit', 'usage', 'health'].map((name) => `/console/${name}`);
    await browser.expectAccessibleInEveryLook(paths);
  });

  it('the admin of another account is offered no accounts', async () => {
    const { key } = (await client.newAccount('Third')).client;
    await page.context().clearCookies();
    await browser.open('/console/keys');
    await page.getByLabel('API key').fill(key);
    const refusal = page.waitForResponse((response) => response.url().includes('/v1/admin/accounts'));
    await page.keyboard.press('Enter');
    expect((await refusal).status()).toBe(403);
    await page.getByRole('region', { name: 'API keys' }).getByText('this browser', { exact: true }).waitFor();
    expect(await page.getByRole('heading', { name: 'Accounts' }).count()).toBe(0);
  });

  it('an admin ends the session of another browser', async () => {
    const { client: owner } = await client.newAccount('Fourth');
    const key = owner.key;
    const begun = await fetch(`${client.url}/v1/session`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{}',
    });
    const elsewhere = { headers: { cookie: begun.headers.get('set-cookie')?.split(';')[0] ?? '' } };
    expect((await fetch(`${client.url}/v1/runs`, elsewhere)).status).toBe(200);
    await page.context().clearCookies();
    await browser.open('/console/keys');
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');

    const sessions = page.getByRole('region', { name: 'Signed-in browsers' });
    const other = sessions.getByRole('row').filter({ hasNot: page.getByText('this browser') });
    await other.getByRole('button', { name: /^End the session/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    await other.getByRole('button', { name: /^End the session/ }).waitFor({ state: 'detached' });

    expect((await fetch(`${client.url}/v1/runs`, elsewhere)).status).toBe(401);
  });

  it('a key that may only read sees no page and no button that it is refused', async () => {
    const { key } = await client.json<{ key: string }>('POST', '/api-keys', { name: 'reader', scopes: ['read'] });
    await page.context().clearCookies();
    await browser.open('/console/threads');
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Threads' }).waitFor();
    expect(await page.getByRole('link', { name: 'Keys' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'New thread' }).count()).toBe(0);

    const run = await client.createRun({ model: 'demo/ask', input: 'Paint the fence.' });
    await client.waitForRun(run.id);
    await browser.open(`/console/runs/${run.id}`);
    await page.getByRole('region', { name: 'The run asks you' }).waitFor();
    for (const name of ['Answer', 'Fork', 'Fork before iteration 1', 'Ask again', 'Stop'])
      expect([name, await page.getByRole('button', { name, exact: true }).count()]).toEqual([name, 0]);
    await page.getByRole('button', { name: 'Verify this log' }).waitFor();
  });
});
