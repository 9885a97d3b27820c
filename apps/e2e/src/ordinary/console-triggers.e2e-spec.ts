import { createHmac } from 'node:crypto';
import { type RondoClient } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { ordinaryConsole } from '../shared-deployment';

describe('schedules and webhooks in the console', () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
  });

  afterAll(async () => {
    await stopBrowser(browser);
  });

  const executions = () => page.getByRole('region', { name: 'Executions' });

  it('creates a schedule, whose next times are shown while it is written', async () => {
    await browser.open('/console/schedules');
    await page.getByRole('button', { name: 'New schedule' }).click();
    await page.getByLabel('When, as a cron expression').fill('every now and then');
    await page.locator('.field', { hasText: 'cron' }).getByText('This must have five fields').waitFor();
    await page.getByLabel('When, as a cron expression').fill('30 7 * * *');
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.getByText(/Next: .* 7:30 AM · .* 7:30 AM, Europe\/Berlin/).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('report');
    await page.getByLabel('What it is asked').fill('Write {{schedule.name}}.');
    await page.getByLabel('Model').fill('demo/plain');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'report' }).waitFor();
    await page.getByText('It has not fired yet.').waitFor();
  });

  it('runs it now, and leads to the run', async () => {
    await page.getByRole('button', { name: 'Run now' }).click();
    await executions().getByRole('link', { name: 'Completed' }).click();
    await page.getByText('You said: Write report.').waitFor();
    await page.goBack();
  });

  it('pauses it, changes it, and resumes it', async () => {
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('What it is asked').fill('Write another one.');
    await browser.expectAccessible('a schedule that is edited');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Write another one.').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    const { data } = await client.json<{ data: unknown[] }>('GET', '/schedules');
    expect(data).toMatchObject([
      {
        name: 'report',
        cron: '30 7 * * *',
        is_paused: false,
        run: { input: 'Write another one.', model: 'demo/plain' },
      },
    ]);
  });

  it('shows in the list, on its page and with its agent that its newest run did not do what was asked', async () => {
    const { data } = await client.json<{ data: { id: string }[] }>('GET', '/schedules');
    const path = `/schedules/${data[0]?.id}`;
    const { id: agent } = await client.json<{ id: string }>('POST', '/agents', { definition: { name: 'reporter' } });
    const run = { input: 'Go on.', model: 'demo/loop', limits: { max_iterations: 2 }, agent_id: agent };
    await client.json('PATCH', path, { run });
    await client.waitForRun((await client.json<{ id: string }>('POST', `${path}/run`)).id);

    for (const place of ['/schedules', path, `/agents/${agent}`]) {
      await browser.open(`/console${place}`);
      await page.locator('main').getByText('Out of iterations').first().waitFor();
    }
  });

  it('creates a webhook, whose secret signs a request that starts a run', async () => {
    await page.getByRole('link', { name: 'Schedules' }).first().click();
    await page.getByRole('link', { name: 'Webhooks in' }).click();
    await page.getByRole('button', { name: 'New webhook' }).click();
    await page.getByLabel('Name', { exact: true }).fill('issues');
    await page.getByLabel('What it is asked').fill('A new issue: {{body.title}}');
    await page.getByLabel('Model').fill('demo/plain');
    await page.getByRole('button', { name: 'Create' }).click();
    const shown = page.getByRole('region', { name: 'The secret of “issues”' });
    const secret = await shown.locator('code').innerText();
    await shown.getByRole('button', { name: 'I have kept it' }).click();

    await page.getByRole('link', { name: 'issues' }).click();
    const url = await page.getByText('/v1/hooks/').innerText();
    expect(await send(url, { secret, title: 'It breaks' })).toBe(202);
    await executions().getByRole('link', { name: 'Completed' }).click();
    await page.getByText('You said: A new issue: It breaks').waitFor();
    await page.goBack();
  });

  it('makes a new secret, beside which the former one is accepted', async () => {
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'New secret' }).click();
    await page.getByRole('region', { name: 'The new secret of “issues”' }).waitFor();
    await page.getByText(/accepted until \w{3}, \w{3} \d/).waitFor();
  });

  it('shows no schedule that someone else has deleted', async () => {
    const { pathname } = new URL(page.url());
    const schedule = { name: 'gone', cron: '0 9 1 1 *', run: { input: 'Go.', model: 'demo/plain' } };
    const { id } = await client.json<{ id: string }>('POST', '/schedules', schedule);
    await browser.open(`/console/schedules/${id}`);
    await page.getByRole('heading', { name: 'gone' }).waitFor();
    await client.request('DELETE', `/schedules/${id}`);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await browser.open(pathname);
  });

  it('breaks a long word of a name or a task on a phone', async () => {
    const { pathname } = new URL(page.url());
    const word = 'https://example.com/'.padEnd(150, 'a');
    const run = { input: word, model: 'demo/plain' };
    const { id } = await client.json<{ id: string }>('POST', '/schedules', { name: word, cron: '0 9 1 1 *', run });
    await page.setViewportSize({ width: 390, height: 780 });
    for (const path of ['/console/schedules', `/console/schedules/${id}`]) {
      await browser.open(path);
      await page.locator('main').getByText(word).first().waitFor();
      expect(await page.evaluate('document.querySelector("#page").scrollWidth')).toBeLessThanOrEqual(390);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await browser.open(pathname);
    await client.request('DELETE', `/schedules/${id}`);
  });

  it('has no fault that axe finds', async () => {
    const webhook = new URL(page.url()).pathname;
    const { data } = await client.json<{ data: { id: string }[] }>('GET', '/schedules');
    const schedule = `/console/schedules/${data[0]?.id ?? ''}`;
    await browser.expectAccessibleInEveryLook(['/console/schedules', schedule, '/console/schedules/webhooks', webhook]);
  });
});

/** As Standard Webhooks say. */
async function send(url: string, { secret, title }: { secret: string; title: string }): Promise<number> {
  const body = JSON.stringify({ title });
  const [id, timestamp] = ['msg_1', String(Math.floor(Date.now() / 1000))];
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'Content-Type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}
