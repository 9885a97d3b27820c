import type { Run } from '@rondo/contract';
import { type RondoClient, call, command, scriptInput } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { ordinaryConsole } from '../shared-deployment';

const html = (title: string) => `<!doctype html><title>${title}</title><h1>${title}</h1>`;
/** Answers 404 for what is not there: some browsers ask for an icon. */
const pagesServer = `require('http').createServer((q, r) => require('fs').readFile('.' + q.url, (e, t) => r.writeHead(e ? 404 : 200, { 'content-type': 'text/html' }).end(t))).listen(8000)`;

describe('the page of a run', () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;
  /** Pages that axe looks at in the end. */
  const seen: string[] = [];

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
    await client.json('PUT', '/agents/by-name/helper', { definition: { model: 'demo/scripted' } });
  });

  afterAll(() => stopBrowser(browser));

  const open = async (id: string, search = '') => {
    seen.push(`/console/runs/${id}${search}`);
    await browser.open(`/console/runs/${id}${search}`);
    await page.getByRole('log').waitFor();
  };
  const said = (text: string) => page.getByRole('article', { name: 'Agent' }).getByText(text).waitFor();
  const twoSteps = (about: string) =>
    scriptInput(about, [
      { calls: [command('echo once >> effects; cat effects')] },
      { calls: [command('cat effects 2>/dev/null; echo here')] },
      { text: 'All done.' },
    ]);

  it('says that the log has ended, and shows the time and the tokens until the moment that is looked at', async () => {
    const run = await client.createRun(
      scriptInput('Take a while.', [{ calls: [command('sleep 1.2')] }, { text: 'Awake.' }]),
    );
    await client.waitForRun(run.id);
    await open(run.id);
    await page.getByText('The end', { exact: true }).waitFor();
    expect(await page.getByText('Live', { exact: true }).count()).toBe(0);
    const facts = () => page.locator('.run-head .run-facts').innerText();
    expect(await facts()).toMatch(/\d (s|min)\n/);
    expect(await facts()).toMatch(/[1-9]\d* tokens in/);
    await page.getByText('then older messages are summarized').waitFor();
    await open(run.id, '?seq=3');
    await page.getByText('State after event 3.').waitFor();
    expect(await facts()).toMatch(/\d ms\n/);
    expect(await facts()).not.toMatch(/tokens|\$/);
    expect(await page.getByText('then older messages are summarized').count()).toBe(0);
  });

  it('asks for its events once, while the code of its page still comes', async () => {
    const run = await client.createRun({ model: 'demo/plain', input: 'Hello.' });
    await client.waitForRun(run.id);
    const events = `**/v1/runs/${run.id}/stream`;
    const code = '**/assets/run-page-*.js';
    let comes = (): void => undefined;
    const whenItComes = new Promise<void>((resolve) => (comes = resolve));
    let asked = 0;
    await page.route(events, (route) => ((asked += 1), route.continue()));
    await page.route(code, (route) => whenItComes.then(() => route.continue()));
    const first = page.waitForRequest(events);
    await page.goto(`${client.url}/console/runs/${run.id}`, { waitUntil: 'commit' });
    await first;
    comes();
    await page.getByText('The end', { exact: true }).waitFor();
    expect(asked).toBe(1);
    await page.unrouteAll();
  });

  it('forks a run before one of its iterations, without running again what has run (I5)', async () => {
    const origin = await client.createRun(twoSteps('Fork me.'));
    await client.waitForRun(origin.id);
    await open(origin.id);
    await page.getByRole('button', { name: 'Fork before iteration 2' }).click();
    const dialog = page.getByRole('dialog', { name: 'Fork before iteration 2' });
    await browser.expectAccessible('a fork that is being made');
    await dialog.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.waitForURL(({ pathname }) => pathname.includes('/runs/run_') && !pathname.endsWith(origin.id));
    await said('All done.');
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    seen.push(`/console/runs/${id}`);
    expect(await client.toolOutputs(id)).toEqual(['once\n', 'here\n']);

    await page.getByText(/The fork begins here: facts 1…\d+ are those of its origin\./).waitFor();
    const note = 'The workspace is a new one';
    await page.getByRole('article', { name: 'Note to the agent' }).getByText(note).waitFor();
    expect(await page.getByRole('article', { name: 'You' }).getByText(note).count()).toBe(0);
    await page
      .getByText(/Forked from/)
      .getByRole('link')
      .first()
      .click();
    await page.getByText(/State after event \d+\./).waitFor();
    expect(new URL(page.url()).pathname).toContain(origin.id);
  });

  it('a fork of a whole run gets a new input and another model, and says what is missing without one', async () => {
    const origin = await client.createRun({ model: 'demo/plain', input: 'Begin.' });
    await client.waitForRun(origin.id);
    await open(origin.id);
    await page.getByRole('button', { name: 'Fork', exact: true }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Fork', exact: true }).click();
    await dialog.getByRole('alert').getByText('give an input to go on').waitFor();
    await dialog.getByLabel('What it is told').fill('And now?');
    await dialog.getByLabel('Model').fill('demo/thinking');
    await dialog.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.getByRole('article', { name: 'You' }).getByText('And now?').waitFor();
    await page.getByText('demo/thinking goes on.').waitFor();
    await page.getByText('Completed', { exact: true }).waitFor();
  });

  it('leads from a call to the run that it has started, and back, and adds up what they cost', async () => {
    const child = scriptInput('the child', [{ text: 'The answer.' }]);
    const parent = await client.createRun({
      ...scriptInput('the parent', [
        { calls: [call('run_agent', { agent: 'helper', input: child.input })] },
        { text: 'Good.' },
      ]),
      tools: { run_agent: true },
    });
    await client.waitForRun(parent.id);
    await open(parent.id);
    const below = page.getByRole('region', { name: 'Runs below this one' });
    await below.getByText('Together with this one').waitFor();
    const both = await Promise.all(
      [parent.id, (await client.json<Run>('GET', `/runs/${parent.id}`)).children?.[0]?.id].map((id) =>
        client.json<Run>('GET', `/runs/${id ?? ''}`),
      ),
    );
    const tokens = both.reduce((sum, { usage }) => sum + usage.input_tokens, 0);
    await below.getByText(`${tokens.toLocaleString('en-US')} in`).waitFor();

    await page.getByRole('link', { name: 'The run that it started' }).click();
    await said('The answer.');
    seen.push(new URL(page.url()).pathname);
    await page.getByText('Started by').getByRole('link').click();
    await said('Good.');
  });

  it('says that another model answered, and which', async () => {
    const run = await client.createRun({ model: 'demo/error-500', fallbacks: ['demo/plain'], input: 'Go on.' });
    await client.waitForRun(run.id);
    await open(run.id);
    await page.getByText(/demo\/error-500 failed \(.*\); demo\/plain answers instead\./).waitFor();
    await page.locator('.iteration').getByText('demo/plain ·').waitFor();
  });

  it('a call is approved there with edited arguments', async () => {
    const run = await client.createRun({
      ...scriptInput('Publish it.', [{ calls: [command('echo to the wrong place')] }, { text: 'Published.' }]),
      tools: { execute_command: { require_approval: true } },
    });
    await client.waitForRun(run.id);
    await open(run.id);
    const asked = page.getByRole('group', { name: 'Approval of execute_command' });
    await asked.getByRole('button', { name: 'Edit' }).click();
    await browser.expectAccessible('a call that is edited');
    await asked.getByLabel('Arguments, as JSON').fill('{"command": "echo to the right place", "blocking": true}');
    await asked.getByRole('button', { name: 'Approve with these arguments' }).click();
    await said('Published.');
    expect(await client.toolOutputs(run.id)).toEqual([expect.stringContaining('to the right place')]);
  });

  it('shows each page that the browser of the run saw', async () => {
    const written = (name: string) => call('create_file', { file_path: `${name}.html`, file_contents: html(name) });
    const visit = (name: string) => call('browser_navigate_to', { url: `http://localhost:8000/${name}.html` });
    const serve = `(node -e "${pagesServer}" &) ; until (echo > /dev/tcp/127.0.0.1/8000) 2> /dev/null; do :; done`;
    const run = await client.createRun({
      ...scriptInput('two pages', [
        { calls: [written('first')] },
        { calls: [written('second')] },
        { calls: [command(serve)] },
        { calls: [visit('first')] },
        { calls: [visit('second')] },
        { text: 'Seen.' },
      ]),
      tools: ['create_file', 'execute_command', 'browser_navigate_to'],
      agent: { system_prompt: 'Look.' },
    });
    await client.waitForRun(run.id);
    await open(run.id);
    const view = page.getByRole('region', { name: 'Browser' });
    await view.getByRole('img', { name: 'Screenshot of second' }).waitFor();
    await view.getByRole('button', { name: 'The page before' }).click();
    await view.getByRole('button', { name: 'Enlarge the screenshot of first' }).click();
    const dialog = page.getByRole('dialog', { name: 'first' });
    await dialog.getByRole('img', { name: 'Screenshot of first' }).waitFor();
    await browser.expectAccessible('a screenshot, enlarged');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    const json = {
      type: 'about:blank',
      title: 'Too Many Requests',
      status: 429,
      code: 'rate_limited',
      detail: 'Later.',
    };
    await page.route('**/v1/blobs/*', (route) => route.fulfill({ status: 429, json }));
    await open(run.id);
    await view.getByText('Later.').waitFor();
    expect(await view.getByText('no longer there').count()).toBe(0);
    await page.unroute('**/v1/blobs/*');
  });

  it('on a phone the bar has the names of pages, and the others are behind “More”', async () => {
    await page.setViewportSize({ width: 390, height: 780 });
    await browser.open('/console/runs');
    const bar = page.getByRole('navigation', { name: 'Pages', exact: true });
    for (const name of ['Runs', 'Inbox', 'Threads', 'Agents']) await bar.getByRole('link', { name }).waitFor();
    expect(
      await page.evaluate(`[...document.querySelectorAll('.phone-bar a, .phone-bar button')]
      .filter((one) => one.scrollWidth > one.clientWidth).length`),
    ).toBe(0);
    await bar.getByRole('button', { name: 'More' }).click();
    await browser.expectAccessible('the menu of a phone');
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
    expect(await page.getByRole('navigation', { name: 'More pages' }).isVisible()).toBe(false);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('link', { name: 'Usage' }).waitFor();
  });

  it('has no fault that axe finds: light and dark, on a wide screen and on a phone', async () => {
    await browser.expectAccessibleInEveryLook([...new Set(seen)]);
  });
});
