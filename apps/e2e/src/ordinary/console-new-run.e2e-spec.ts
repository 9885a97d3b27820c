import { type RondoClient, command, scriptInput } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { ordinaryConsole } from '../shared-deployment';

describe('a run that is started in the console', () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
  });

  afterAll(async () => {
    await stopBrowser(browser);
  });

  const start = async () => {
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.waitForURL(/\/runs\/run_/);
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await client.waitForRun(id);
    return client.json<{ id: string; status: string }>('GET', `/runs/${id}`);
  };

  it('has what the form and the JSON beside it say', async () => {
    await browser.open('/console/runs');
    await page.getByRole('link', { name: 'New run' }).click();
    await page.getByLabel('Prompt').fill('Say hello.');
    await page.getByLabel('Model', { exact: true }).fill('demo/plain');
    await page.getByLabel('Max iterations').fill('7');
    await page.getByLabel('Budget, tokens').fill('50000');
    await page.getByLabel('Metadata').fill('ticket: T-118');
    const json = page.getByLabel('The request, as JSON');
    await json.focus();
    const written = {
      input: 'Say hello.',
      model: 'demo/plain',
      limits: { max_iterations: 7 },
      budget: { tokens: 50_000 },
    };
    expect(JSON.parse(await json.inputValue())).toEqual({ ...written, metadata: { ticket: 'T-118' } });
    await json.fill(JSON.stringify({ ...written, metadata: { ticket: 'T-119' }, tools: ['ask'] }));
    expect(await page.getByLabel('Metadata').inputValue()).toBe('ticket: T-119');
    const lines = { 'team:queue': 'one\ntwo' };
    await json.fill(JSON.stringify({ ...written, metadata: lines }));
    await page.getByLabel('Metadata').focus();
    await json.focus();
    expect(JSON.parse(await json.inputValue())).toEqual({ ...written, metadata: lines }); // nothing was typed into the field
    await json.fill(JSON.stringify({ ...written, metadata: { ticket: 'T-119' }, tools: ['ask'] }));

    await page.getByRole('button', { name: 'As curl' }).click();
    await page.getByText('"ticket": "T-119"').waitFor();
    await page.getByRole('button', { name: 'As client code' }).click();
    await page.getByText('rondo.runs.create({').waitFor();
    await browser.expectThisAccessibleInEveryLook('a new run');
    expect(await start()).toMatchObject({
      ...{ status: 'completed', model: 'demo/plain', metadata: { ticket: 'T-119' } },
      settings: { limits: { max_iterations: 7 }, budget: { tokens: 50_000 }, tools: ['ask'] },
    });
  });

  it('says what is wrong with its JSON, and what the gateway refuses', async () => {
    await browser.open('/console/runs/new');
    await page.getByLabel('The request, as JSON').fill('{"input": ');
    await page.getByRole('alert').getByText('This is not JSON').waitFor();
    await page.getByRole('button', { name: 'As curl' }).click();
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    expect(await page.getByLabel('The request, as JSON').inputValue()).toBe('{"input": ');
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('dialog', { name: 'Leave this page?' }).getByRole('button', { name: 'Stay' }).click();
    await page.getByLabel('The request, as JSON').fill('{"input": "Go.", "modle": "x"}');
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.getByRole('alert').getByText('modle').waitFor();

    await page.getByLabel('The request, as JSON').fill('{"input": "Go.", "model": "demo/nonesuch"}');
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.getByRole('alert').getByText('There is no model "demo/nonesuch"').waitFor();
    await page.getByText(/^The \d+ known models$/).click();
    await page.getByRole('listitem').getByText('demo/plain', { exact: true }).waitFor();
  });

  it('keeps what is typed as JSON when the form cannot show a value of it', async () => {
    await browser.open('/console/runs/new');
    const json = page.getByLabel('The request, as JSON');
    await json.fill('{"input": "Kept.", "metadata": null}');
    await page.getByRole('alert').getByText('The form cannot show what the text says').waitFor();
    expect(await json.inputValue()).toContain('Kept.');

    await json.fill('{"input": "Kept."}');
    await page.getByLabel('Metadata').waitFor();
    expect(await page.getByLabel('Prompt').inputValue()).toBe('Kept.');
    expect(await page.evaluate('document.activeElement.value')).toBe('{"input": "Kept."}');
  });

  it('is one that failed, with changes', async () => {
    const task = scriptInput('Greet me.', [{ calls: [command('echo hello')] }, { text: 'Hello.' }]);
    const failing = { ...task, model: 'demo/error-500', tools: { web: false }, metadata: { team: 'red' } };
    const { id } = await client.createRun(failing);
    expect(await client.waitForRun(id)).toMatchObject({ status: 'failed' });
    await browser.open(`/console/runs/${id}`);
    await page.getByText(/^The run failed: /).waitFor();
    await browser.expectThisAccessibleInEveryLook('a run that failed');

    await page.getByRole('link', { name: 'Run again' }).click();
    await page.getByRole('heading', { name: 'Run again' }).waitFor();
    expect(await page.getByLabel('Model', { exact: true }).inputValue()).toBe('demo/error-500');
    await page.getByLabel('Model', { exact: true }).fill(task.model);
    const again = await start();
    const read = (run: string) => client.json<{ settings: object; metadata: object }>('GET', `/runs/${run}`);
    const [before, after] = [await read(id), await read(again.id)];
    expect([again.status, after.metadata]).toEqual(['completed', { team: 'red' }]);
    expect(after.settings).toEqual({ ...before.settings, model: task.model });
    expect(await client.toolOutputs(again.id)).toEqual([expect.stringContaining('hello')]);
  });

  it('shows where its time went, also at an earlier moment', async () => {
    await page.getByRole('link', { name: 'Waterfall' }).click();
    const waterfall = page.getByRole('region', { name: 'Waterfall' });
    await waterfall.getByText(/^models /).waitFor();
    await waterfall.getByText('execute_command', { exact: true }).waitFor();
    expect(await waterfall.getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^Queued/),
      expect.stringMatching(/^demo\/scripted/),
      expect.stringMatching(/^execute_command/),
      expect.stringMatching(/^demo\/scripted/),
    ]);
    await browser.expectThisAccessibleInEveryLook('the waterfall of a run');
    await page.getByRole('slider').press('Home');
    await page.getByText('State after event 1.').waitFor();
    expect(await waterfall.getByRole('listitem').allInnerTexts()).toEqual([expect.stringMatching(/^Queued/)]);
    await page.getByRole('button', { name: 'To the end' }).click();
    await page.getByRole('link', { name: 'Timeline' }).click();
    await page.getByRole('log', { name: 'Timeline' }).waitFor();
  });

  it('is not offered with a key that may only read', async () => {
    const { key } = await client.json<{ key: string }>('POST', '/api-keys', { name: 'reader', scopes: ['read'] });
    await page.context().clearCookies();
    await browser.open('/console/runs');
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    expect(await page.getByRole('link', { name: 'New run' }).count()).toBe(0);
    await browser.open('/console/runs/new');
    await page.getByText('a key that may write').waitFor();
  });
});
