import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RondoClient, type RunningRondo } from '@rondo/test-deployment';
import { verifyWebhook } from '@rondo/client';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, startConsole, stopConsole } from './console-browser';

const ACCOUNT_TIERS = JSON.stringify({
  default: 'internal',
  tiers: { free: { usd: 5, allowed_models: ['demo/*'] }, internal: {} },
});

describe('what an account tells others and may spend, in the console', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;
  let receiver: Server;
  let host: string;
  let status = 204;
  const received: Request[] = [];

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
        received.push(new Request('http://receiver/', { method: 'POST', headers, body: Buffer.concat(chunks) }));
        response.writeHead(status).end();
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`; // it listens on TCP
    const settings = { WEBHOOK_INTERNAL_HOSTS: host, ACCOUNT_TIERS };
    ({ rondo, client, browser, page } = await startConsole({
      settings: { gateway: settings, 'agent-worker': { ACCOUNT_TIERS } },
    }));
  });

  afterAll(async () => {
    receiver.close();
    receiver.closeAllConnections();
    await stopConsole({ rondo, browser });
  });

  const deliveries = () => page.getByRole('region', { name: 'Deliveries' });
  const hello = async () => client.waitForRun((await client.createRun({ model: 'demo/plain', input: 'Hello.' })).id);
  let secret: string;

  it('creates an endpoint, whose secret is shown once and checks what arrives', async () => {
    await browser.open('/console/schedules');
    await page.getByRole('link', { name: 'Webhooks out' }).click();
    await page.getByText('No endpoints yet.').waitFor();
    await page.getByRole('button', { name: 'New endpoint' }).click();
    await page.getByLabel('Send to').fill('http://192.168.1.1/');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Send to').fill(`http://${host}/`);
    await page.getByLabel('Description').fill('Our own system');
    await browser.expectAccessible('an endpoint that is being made');
    await page.getByRole('button', { name: 'Create' }).click();
    const shown = page.getByRole('region', { name: /^The secret of/ });
    secret = await shown.locator('code').innerText();
    await shown.getByRole('button', { name: 'I have kept it' }).click();

    await hello();
    await page.getByRole('link', { name: /Our own system/ }).click();
    await deliveries().getByText('Accepted after 1 attempt.').waitFor();
    await deliveries().getByRole('link').first().click();
    await page.getByText('You said: Hello.').waitFor();
    await page.goBack();
    const [first] = received.splice(0);
    expect(JSON.parse(await verifyWebhook(first ?? new Request('http://none/'), { secrets: secret }))).toMatchObject({
      type: 'run.completed',
    });
  });

  it('shows what was given up, and sends it again', async () => {
    status = 410; // at once
    await hello();
    await page
      .getByRole('navigation', { name: 'Status of deliveries' })
      .getByRole('link', { name: 'Given up' })
      .click();
    await deliveries()
      .getByText(/Given up after 1 attempt\./)
      .waitFor();
    await page.getByRole('link', { name: 'Webhooks out' }).click();
    await deliveries().getByText(`http://${host}/`).waitFor();
    await page.getByRole('list', { name: 'Endpoints' }).getByText('Given up after 1 attempt.').waitFor();
    status = 204;
    await page.getByRole('button', { name: 'Send again: run.completed' }).click();
    await page.getByText('Everything was accepted, or is still tried.').waitFor();
    await page.getByRole('link', { name: /Our own system/ }).click();
    await deliveries().getByText('Accepted after 1 attempt.').nth(1).waitFor();
  });

  it('makes a new secret, and sends a test that both sign', async () => {
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'New secret' }).click();
    const shown = page.getByRole('region', { name: 'The new secret of this endpoint' });
    const next = await shown.locator('code').innerText();
    await page.getByText(/signs, too, until/).waitFor();
    received.splice(0);
    await page.getByRole('button', { name: 'Send a test' }).click();
    await deliveries()
      .getByRole('row', { name: /webhook\.test/ })
      .getByText(/^Accepted after/)
      .waitFor();
    const [test] = received;
    for (const one of [secret, next]) {
      expect(await verifyWebhook(test?.clone() ?? new Request('http://none/'), { secrets: one })).toContain(
        'webhook.test',
      );
    }
  });

  it('pauses it, changes what is sent, and deletes it', async () => {
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('It waits').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('run.waiting').waitFor();
    await browser.expectAccessibleInEveryLook(['/console/schedules/endpoints', new URL(page.url()).pathname]);
    await page.getByRole('button', { name: 'Delete this endpoint' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No endpoints yet.').waitFor();
  });

  it('shows what the account may spend and has left', async () => {
    await browser.open('/console/usage');
    await page.getByText('This account may spend any amount.').waitFor();
    const { id: account, client: tenant } = await client.newAccount();
    await client.json('PUT', `/admin/accounts/${account}/tier`, { tier: 'free' });
    await client.json('POST', `/admin/accounts/${account}/credits`, { usd: 2.5, reason: 'A gift.' });
    await page.context().clearCookies();
    await browser.open('/console/usage');
    await page.getByLabel('API key').fill(tenant.key);
    await page.keyboard.press('Enter');
    const balance = page.getByRole('region', { name: 'Balance' });
    await balance.getByText('Tier free').waitFor();
    for (const amount of ['$7.50', '$5.00', '$2.50']) await balance.getByText(amount).waitFor();
    await balance.getByText('Models: demo/*.').waitFor();
    await browser.expectAccessibleInEveryLook(['/console/usage']);
  });
});
