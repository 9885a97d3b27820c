import { type RondoClient, type RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { toRun } from '../../../console/bench/synthetic-run.mjs';
import { ConsoleBrowser, stopBrowser } from '../console-browser';
import { newAccount, ordinaryDeployment } from '../shared-deployment';

const hostile = [
  '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>',
  '[a link](javascript:document.title="owned") and [another](https://example.com/)',
  '![tracker](http://127.0.0.1:9/tracker.png)',
].join('\n\n');

describe('the console in a browser', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = await newAccount(rondo);
    browser = await ConsoleBrowser.start(rondo, client);
    ({ page } = browser);
  });

  afterAll(() => stopBrowser(browser));

  const open = (path: string) => browser.open(path);
  const text = () => page.getByRole('log').innerText();

  it('asks for a key, says when it is wrong, and shows the runs', async () => {
    await client.createRun({ model: 'demo/plain', input: 'Say hello.' });
    await open('/');
    await page.getByLabel('API key').fill('rondo_a_key_that_does_not_exist');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('does not accept this key').waitFor();

    await page.getByLabel('API key').fill(client.key);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Say hello.' }).getByText('Completed').waitFor();
    expect(await page.evaluate('document.cookie + JSON.stringify([localStorage, sessionStorage])')).not.toMatch(
      /key|ses/,
    );
    await page.getByRole('navigation', { name: 'Status' }).getByRole('link', { name: 'Failed' }).click();
    await page.getByText('No run matches these filters.').waitFor();
  });

  it('keeps the chosen filter in sight on a phone', async () => {
    await page.setViewportSize({ width: 390, height: 760 });
    await open('/console/runs?status=stopped');
    const { x = 0, width = 0 } = (await page.getByRole('link', { name: 'Stopped' }).boundingBox()) ?? {};
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('says that a page or a run is not there, and where others are', async () => {
    for (const path of ['/console/nowhere', '/console/runs/run_01M8AAAAAAAAAAAAAAAAAAAAAA']) {
      await open(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await browser.expectAccessible(path);
      await page.getByRole('main').getByRole('link', { name: 'All runs' }).click();
      await page.getByRole('heading', { name: 'Runs' }).waitFor();
    }
  });

  it('bench:console measures a run with the fields of a real one', async () => {
    const { data } = await client.json<{ data: object[] }>('GET', '/runs?limit=1');
    expect(Object.keys(toRun('running', 1)).sort()).toEqual(Object.keys(data[0] ?? {}).sort());
  });

  it('every page says that the gateway is away, and nothing of that stays when it is back', async () => {
    const run = await client.createRun({ model: 'demo/long:tokens=3000', input: 'Tell me a long story.' });
    await open(`/console/threads/${run.thread_id}`);
    await page.getByText('The quick brown fox').first().waitFor();
    await rondo.services.get('gateway').kill();
    await page.getByText('Connection lost; it is made again.').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    const refusal = page.getByRole('alert').getByText('The server does not answer.');
    await refusal.waitFor();

    await rondo.services.get('gateway').start();
    await page.getByText('Connection lost').waitFor({ state: 'detached' });
    await refusal.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped', { exact: true }).first().waitFor();
  });

  it('a page that is opened while the gateway is away comes when it is back', async () => {
    await open('/console/runs');
    await page.getByRole('link', { name: 'New run' }).waitFor();
    await page.evaluate('document.isThis = true');
    await rondo.services.get('gateway').kill();
    await page.getByText('Connection lost; it is made again.').waitFor();
    await page.getByRole('link', { name: 'Sandboxes' }).click();
    await page.keyboard.press('Control+k');

    await rondo.services.get('gateway').start();
    await page.getByRole('heading', { level: 1, name: 'Sandboxes' }).waitFor();
    await page.getByRole('dialog').getByRole('combobox').waitFor();
    expect(await page.evaluate('document.isThis')).toBe(true);
    await page.keyboard.press('Escape');
  });

  it('asks a gateway of the same machine although the browser is offline, and says so when it is not answered', async () => {
    await open('/console/runs');
    await page.evaluate('dispatchEvent(new Event("offline"))');
    const run = await client.createRun({ model: 'demo/plain', input: 'Written while offline.' });
    await page.getByRole('link', { name: 'Written while offline.' }).waitFor();
    await client.waitForRun(run.id);

    await page.context().setOffline(true);
    await page.getByText('Connection lost; it is made again.').waitFor();
    await page.getByRole('link', { name: 'Written while offline.' }).click();
    await page.context().setOffline(false);
    await page.getByText('You said: Written while offline.').waitFor();
    await page.getByText('Connection lost').waitFor({ state: 'detached' });
  });

  it('shows a text while it is written, also after its gateway was killed', async () => {
    const run = await client.createRun({ model: 'demo/long:tokens=500', input: 'Tell me a story.' });
    await open('/console/runs');
    await page.getByRole('link', { name: 'Tell me a story.' }).click();
    await page.getByText('The quick brown fox').first().waitFor();
    const before = await text();

    await rondo.services.get('gateway').kill();
    await page.getByText('Connection lost; it is made again.').waitFor();
    await browser.expectThisAccessibleInEveryLook('a run without a gateway');
    await rondo.services.get('gateway').start();
    await page.getByText('Completed', { exact: true }).waitFor();
    expect((await text()).length).toBeGreaterThan(before.length);
    await browser.expectFirstReply(run.id);
  });

  it('proves in the browser that the log is complete, and shows the run as it was', async () => {
    await page.getByRole('button', { name: 'Verify this log' }).click();
    await page.getByRole('button', { name: /complete, proven in this browser/ }).waitFor();

    await page.getByRole('slider').press('Home');
    await page.getByText('State after event 1.').waitFor();
    expect(new URL(page.url()).searchParams.get('seq')).toBe('1');
    expect(await text()).not.toContain('quick brown fox');
    await page.getByRole('button', { name: 'To the end' }).click();
    await page.getByText('The quick brown fox').first().waitFor();
  });

  it('answers a question by keyboard', async () => {
    const run = await client.createRun({ model: 'demo/ask', input: 'Paint the shed.' });
    await open(`/console/runs/${run.id}`);
    await page.getByLabel('Your answer').fill('Green.');
    await page.keyboard.press('Control+Enter');
    await page.getByText('I go on with your answer: Green.').waitFor();
  });

  it('shows the exact arguments of a call in the inbox, and sends what a person approved', async () => {
    const run = await client.createRun({
      ...scriptInput('Publish it.', [{ calls: [command('echo to the wrong place')] }, { text: 'Published.' }]),
      tools: { execute_command: { require_approval: true } },
    });
    await open('/console/inbox');
    const call = page.getByRole('group', { name: 'Approval of execute_command' });
    await call.getByText('"command": "echo to the wrong place"').waitFor();
    const waiting = page.getByRole('article').filter({ has: page.getByRole('link', { name: 'Publish it.' }) });
    await waiting.getByText('demo/scripted', { exact: true }).waitFor();
    await waiting.getByText('profile suna', { exact: true }).waitFor();
    await waiting.getByText(/^has waited \d/).waitFor();
    await browser.expectThisAccessibleInEveryLook('the inbox');
    await call.getByRole('button', { name: 'Edit' }).click();
    await call.getByLabel('Arguments, as JSON').fill('{"command": "echo to the right place", "blocking": true}');
    await call.getByRole('button', { name: 'Approve with these arguments' }).click();
    await page.getByText('Nothing waits for you.').waitFor();
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    expect(await client.toolOutputs(run.id)).toEqual([expect.stringContaining('to the right place')]);
  });

  it('raises the budget that a run waits for in all of its units, also that of the run which began its tree', async () => {
    const budget = { usd: 3, tokens: 500, spent_usd: 0.5, spent_tokens: 490, root_run_id: 'run_root' };
    const waiting = [{ id: 'run_below', status: 'waiting_budget', waiting: { reason: 'budget', budget } }];
    await page.route('**/v1/inbox?*', (route) =>
      route.fulfill({ json: { data: waiting, has_more: false, next_cursor: null } }),
    );
    await open('/console/inbox');
    await page.getByText('all runs below that one have spent $0.50 of $3.00, and used 490 of 500 tokens.').waitFor();
    const raised = page.waitForRequest('**/v1/runs/run_root/budget');
    await page.getByRole('button', { name: 'Raise, and go on' }).click();
    expect((await raised).postDataJSON()).toEqual({ usd: 3, tokens: 1_000 });
    await page.unrouteAll();
  });

  it('shows of several calls whose outcome is unknown those that no person has ruled on', async () => {
    const listed = (data: unknown[]) => ({ json: { data, has_more: false, next_cursor: null } });
    const toCall = (id: string, status: string) => ({ id, run_id: 'run_1', name: `pay_${id}`, arguments: {}, status });
    const calls = [toCall('first', 'unknown'), toCall('second', 'unknown')];
    const waiting = [{ id: 'run_1', status: 'waiting_input', waiting: { reason: 'tool_unknown' } }];
    await page.route('**/v1/inbox?*', (route) => route.fulfill(listed(waiting)));
    await page.route('**/v1/runs/run_1/tool-calls*', (route) => route.fulfill(listed(calls)));
    await page.route('**/v1/tool-calls/first/resolve', (route) => {
      calls[0] = toCall('first', 'completed');
      return route.fulfill({ json: calls[0] });
    });
    await open('/console/inbox');
    const first = page.getByRole('group', { name: 'pay_first, outcome unknown' });
    await first.getByRole('button', { name: 'It took effect' }).click();
    await first.waitFor({ state: 'detached' });
    await page.getByRole('group', { name: 'pay_second, outcome unknown' }).waitFor();
    await page.unrouteAll();
  });

  it('stops a run, and shows the receipt', async () => {
    const turns = [{ calls: [command('echo begun; sleep 60')] }];
    const run = await client.createRun(scriptInput('Wait.', turns));
    await open(`/console/runs/${run.id}`);
    await page.getByLabel('Output').getByText('begun').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    const receipt = page.getByRole('region', { name: 'Receipt of the stop' });
    await receipt.getByRole('heading', { name: 'Stopped', exact: true }).waitFor();
    await receipt.getByText('execute_command ended').waitFor();
    await receipt.getByText('Tokens after the stop').waitFor();
    expect(await receipt.getByText('not yet').count()).toBe(0);
  });

  it('treats what a model writes as text', async () => {
    const run = await client.createRun(scriptInput('Be nasty.', [{ text: hostile }]));
    await client.waitForRun(run.id);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).host));
    await open(`/console/runs/${run.id}`);
    const message = page.getByRole('article', { name: 'Agent' });
    await message.getByText('<script>').waitFor();
    expect(await message.getByRole('link').all()).toHaveLength(1);
    expect(await message.getByRole('link').getAttribute('rel')).toContain('noopener');
    expect(await page.locator('img, script:not([src])').count()).toBe(0);
    expect(await page.title()).toMatch(/Rondo$/);
    expect(new Set(requests)).toEqual(new Set([new URL(client.url).host]));
  });

  it('breaks neither the numbers of a wide table nor the lines of an error', async () => {
    const row = (...cells: string[]) => `| ${cells.join(' | ')} |`;
    const table = [row('a', 'b', 'c'), row('---', '---', '---'), row('22.50', '日本語', 'w'.repeat(120))].join('\n');
    const refused = { name: 'execute_command', arguments: { command: 42, blocking: 'perhaps' } };
    const run = await client.createRun(scriptInput('Show me a table.', [{ calls: [refused] }, { text: table }]));
    await client.waitForRun(run.id);
    await open(`/console/runs/${run.id}`);
    for (const cell of ['22.50', '日本語']) {
      const shown = await page.getByRole('cell', { name: cell, exact: true }).boundingBox();
      expect(shown?.height).toBeLessThan(50);
    }
    const error = page.getByText('Invalid arguments for execute_command');
    expect((await error.innerText()).split('\n')).toHaveLength(3);
  });

  it('has no fault that axe finds: light and dark, on a wide screen and on a phone', async () => {
    await browser.expectAccessibleInEveryLook(await pages());
  });

  async function pages(): Promise<string[]> {
    const { data } = await client.json<{ data: { id: string }[] }>('GET', '/runs?limit=1');
    return ['/console/runs', '/console/inbox', `/console/runs/${data[0]?.id ?? ''}`];
  }
});
