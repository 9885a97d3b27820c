import { Rondo } from '@rondo/client';
import { type RondoClient, command, scriptInput } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { notesServer } from '../notes-server';
import { ordinaryConsole } from '../shared-deployment';

describe('secrets, client tokens and MCP servers in the console', () => {
  let client: RondoClient;
  let rondo: Rondo;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
    rondo = new Rondo({ baseUrl: client.url, apiKey: client.key });
  });

  afterAll(async () => {
    await stopBrowser(browser);
  });

  it('a secret is stored, never shown again, and revoked', async () => {
    await browser.open('/console/keys');
    await page.getByRole('link', { name: 'Secrets' }).click();
    await page.getByText('No secrets yet.').waitFor();
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByLabel('Name', { exact: true }).fill('path');
    await page.getByLabel('Value').fill('a-value-that-nothing-shows');
    await page.getByLabel('Hosts that may get it').fill('api.example.com, *.example.org');
    await page.getByLabel('Where it goes').selectOption('basic');
    await page.getByLabel('User', { exact: true }).fill('x-access-token');
    await browser.expectThisAccessibleInEveryLook('the form of a secret');
    await page.getByRole('button', { name: 'Store' }).click();
    await page.getByRole('alert').getByText(/name/).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('BUILD_TOKEN');
    await page.getByRole('button', { name: 'Store' }).click();

    const row = page.getByRole('region', { name: 'Secrets' }).getByRole('row', { name: 'BUILD_TOKEN' });
    await row.getByText('api.example.com, *.example.org').waitFor();
    await row.getByText('password of x-access-token').waitFor();
    expect(await page.content()).not.toContain('a-value-that-nothing-shows');
    await browser.expectThisAccessibleInEveryLook('the secrets');
    await page.getByRole('button', { name: 'Revoke BUILD_TOKEN' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('No secrets yet.').waitFor();
  });

  it('a client token is seen, leads to its user, and is revoked', async () => {
    await rondo.clientTokens.create({ user: 'ada', scopes: ['read'] });
    await browser.open('/console/keys/tokens');
    const row = page.getByRole('region', { name: 'Client tokens' }).getByRole('row', { name: 'ada' });
    expect(await row.getByRole('link', { name: 'ada' }).getAttribute('href')).toBe('/console/users/ada');
    await browser.expectThisAccessibleInEveryLook('the client tokens');
    await row.getByRole('button', { name: 'Revoke the token of ada' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await row.getByText(/^revoked/).waitFor();
  });

  it('a prompt of an MCP server becomes the input of a new run', async () => {
    await browser.open('/console/agents/mcp');
    const form = page.getByRole('form', { name: 'Try a server' });
    await form.getByLabel('Name').fill('notes');
    await form.getByLabel('Reached by').selectOption('stdio');
    await form.getByLabel('Command').fill(notesServer.command);
    await form.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('button', { name: 'Show its prompts' }).click();
    const prompt = page.getByRole('form', { name: 'The prompt shorten' });
    await prompt.getByLabel('note').fill('7');
    await browser.expectThisAccessibleInEveryLook('the prompts of an MCP server');
    await prompt.getByRole('button', { name: 'Use it in a new run' }).click();
    await page.getByRole('heading', { name: 'New run' }).waitFor();
    expect(await page.getByLabel('Prompt', { exact: true }).inputValue()).toBe('Shorten the note 7.');
  });

  it('the page at which a person connects an MCP server is linked to: browsers do not open each window', async () => {
    const address = 'https://login.example.com/authorize?state=1';
    const begun = { id: 'mcc_1', status: 'pending', connected_at: null, authorization_url: address };
    await page.route('**/v1/mcp-connections', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 201, json: begun }) : route.continue(),
    );
    await browser.open('/console/agents/mcp');
    await page.evaluate('window.open = () => null');
    const form = page.getByRole('form', { name: 'Sign in to a server' });
    await form.getByLabel('Server').fill('https://mcp.example.com/mcp');
    await form.getByRole('button', { name: 'Sign in to the server' }).click();
    const link = page.getByRole('status').getByRole('link', { name: 'open it' });
    expect(await link.getAttribute('href')).toBe(address);
    await browser.expectThisAccessibleInEveryLook('the link to the page of a server');
    await page.unroute('**/v1/mcp-connections');
  });

  it('an MCP server is tried; its tools are kept once a run has accepted them', async () => {
    await browser.open('/console/agents');
    await page.getByRole('link', { name: 'MCP servers' }).click();
    await page.getByText('No run has named an MCP server yet.').waitFor();
    const form = page.getByRole('form', { name: 'Try a server' });
    await form.getByLabel('Name').fill('away');
    await form.getByLabel('URL').fill('http://10.255.255.1/mcp');
    await form.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('alert').getByText('not a public address').waitFor();
    await form.getByLabel('Name').fill('notes');
    await form.getByLabel('Reached by').selectOption('stdio');
    await form.getByLabel('Command').fill(notesServer.command);
    await form.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('notes is connected. It has one tool').waitFor();
    await browser.expectThisAccessibleInEveryLook('an MCP server that was tried');

    const says = [{ calls: [command('printf "Reads a note or two." > said')] }, { text: 'Done.' }];
    const first = await client.createRun({ ...scriptInput('Say something else.', says), mcp_servers: [notesServer] });
    await client.waitForRun(first.id);
    const next = { model: 'demo/plain', input: 'And now?', mcp_servers: [notesServer] };
    const second = await client.createRun({ ...next, thread_id: first.thread_id });
    await client.waitForRun(second.id);
    await page.reload();
    const tool = page.getByRole('region', { name: 'Tools of notes' }).getByRole('row', { name: 'read' });
    await tool.waitFor();
    const change = page.getByRole('region', { name: 'notes__read has changed' });
    await change.getByText('Reads a note or two.').waitFor();
    const tops = await Promise.all([change, form].map((part) => part.boundingBox()));
    expect(tops[0]?.y).toBeLessThan(tops[1]?.y ?? 0);
    await browser.expectThisAccessibleInEveryLook('the tools of MCP servers');
    await change.getByRole('button', { name: 'Confirm the change' }).click();
    await change.waitFor({ state: 'detached' });
    await tool.getByText('Reads a note or two.').waitFor();
    await page.getByRole('button', { name: 'Forget notes' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Forget notes' }).click();
    await page.getByText('No run has named an MCP server yet.').waitFor();
  });
});
