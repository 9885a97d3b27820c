import { type RondoClient, command, scriptInput } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { ordinaryConsole } from '../shared-deployment';

describe('what the console says of a run', () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
  });

  afterAll(async () => {
    await stopBrowser(browser);
  });

  it.each([
    ['iterations', { limits: { max_iterations: 2 } }, 'Out of iterations', 'The run reached its max iterations'],
    ['budget', { budget: { tokens: 1 } }, 'Out of budget', 'was not covered by what the run or its account may spend'],
  ])('that ran out of its %s is not that it is completed, on its page and in the list', async (...row) => {
    const [what, limits, word, sentence] = row;
    const input = `Go on until you have no ${what}.`;
    const { id } = await client.createRun({ model: 'demo/loop', input, ...limits });
    await client.waitForRun(id);

    await browser.open(`/console/runs/${id}`);
    await page.getByText(sentence).waitFor();
    await page.getByText(word, { exact: true }).waitFor();
    expect(await page.getByText('Completed', { exact: true }).count()).toBe(0);
    await browser.open('/console/runs');
    await page.getByRole('link', { name: input }).getByText(word).waitFor();
    await page.waitForFunction("document.title === 'Runs · Rondo'");
  });

  it('without an MCP server that it was to have names the server and the reason', async () => {
    const server = { name: 'lost', transport: 'streamable_http', url: 'http://127.0.0.1:1/mcp' };
    const { id } = await client.createRun({ ...scriptInput('Go.', [{ text: 'Done.' }]), mcp_servers: [server] });
    await client.waitForRun(id);

    await browser.open(`/console/runs/${id}`);
    await page.getByText('The MCP server lost was left out').waitFor();
    await page.getByText('127.0.0.1 is not a public address').waitFor();
  });

  it('is on paper whole and in ink, though the screen shows a part of it and is dark', async () => {
    const steps = Array.from({ length: 30 }, (_, step) => ({ calls: [command(`echo step ${step}`)] }));
    const { id } = await client.createRun(scriptInput('Do much.', [...steps, { text: 'Done at last.' }]));
    await client.waitForRun(id);
    await page.emulateMedia({ colorScheme: 'dark' });
    await browser.open(`/console/runs/${id}`);
    const calls = page.getByRole('article', { name: 'execute_command, done' });
    await calls.first().waitFor();
    const [onScreen] = [await calls.count()];
    await page.emulateMedia({ media: 'print' });
    await page.getByText('Done at last.', { exact: true }).waitFor();

    expect(onScreen).toBeLessThan(30);
    expect(await calls.count()).toBe(30);
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeGreaterThan(2_000);
    expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(29, 32, 35)');
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await page.getByRole('button').count()).toBe(0);
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
  });
});
