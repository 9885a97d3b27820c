import { type RondoClient, call, command, scriptInput } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { ordinaryConsole } from '../shared-deployment';

const place = (top: number) => `style="position:fixed;left:100px;top:${top}px;width:300px;height:40px"`;
const login = `<!doctype html><title>Log in</title><body style="height:5000px" onscroll="document.title='scrolled'">
<form onsubmit="event.preventDefault();document.title='Welcome '+secret.value.length+user.value">
<input id="user" ${place(100)}><input id="secret" type="password" ${place(200)}><button ${place(300)}>Log in</button></form>`;
const server = `require('http').createServer((_, r) => r.setHeader('content-type', 'text/html').end(require('fs').readFileSync('login.html'))).listen(8000)`;

describe("the agent's browser in the console", () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
  });

  afterAll(async () => {
    await stopBrowser(browser);
  });

  it('is operated by a person while the run waits, and the run goes on with the page that they left', async () => {
    const run = await client.createRun({
      ...scriptInput('a login', [
        { calls: [call('create_file', { file_path: 'login.html', file_contents: login })] },
        {
          calls: [command(`(node -e "${server}" &) ; until (echo > /dev/tcp/127.0.0.1/8000) 2> /dev/null; do :; done`)],
        },
        { calls: [call('browser_navigate_to', { url: 'http://localhost:8000/' })] },
        { calls: [call('web_browser_takeover', { text: 'Please log in.' })] },
        { calls: [call('browser_wait', { seconds: 0 })] },
        { text: 'All done.' },
      ]),
      tools: ['create_file', 'execute_command', 'browser_navigate_to', 'browser_wait', 'web_browser_takeover'],
    });
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'waiting_input' });

    await browser.open(`/console/runs/${run.id}`);
    const question = page.getByRole('region', { name: 'The run asks you' });
    await question.getByRole('button', { name: 'Operate the browser' }).click();
    const dialog = page.getByRole('dialog', { name: "The agent's browser" });
    const screen = dialog.getByRole('application');
    await screen.waitFor();
    await browser.expectThisAccessibleInEveryLook('a browser that is operated');
    const clickAt = async (x: number, y: number) => {
      const { width = 0, height = 0 } = (await screen.boundingBox()) ?? {};
      await screen.click({ position: { x: (x / 1280) * width, y: (y / 800) * height } });
    };

    await clickAt(200, 120);
    await page.keyboard.type('ada');
    await dialog.getByRole('button', { name: 'Tab', exact: true }).click();
    await dialog.getByLabel('Type into the field').fill('secret');
    await dialog.getByRole('button', { name: 'Type', exact: true }).click();
    await clickAt(200, 320);
    await dialog.getByRole('img', { name: 'The page Welcome 6ada' }).waitFor();
    await screen.hover();
    await page.mouse.wheel(0, 300);
    await dialog.getByRole('img', { name: 'The page scrolled' }).waitFor();
    await dialog.getByLabel('Address').fill('http://localhost:8000/again');
    await dialog.getByRole('button', { name: 'Open' }).click();
    await dialog.getByRole('img', { name: 'The page Log in' }).waitFor();
    await dialog.getByRole('button', { name: 'Back', exact: true }).click();

    await dialog.getByRole('button', { name: 'Done, go on' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
  });

  it('is watched while a run is at work', async () => {
    const run = await client.createRun({
      ...scriptInput('at work', [
        { calls: [call('create_file', { file_path: 'page.html', file_contents: '<title>Busy</title>' })] },
        { calls: [call('browser_navigate_to', { url: 'file:///workspace/page.html' })] },
        { calls: [command('sleep 100', 110)] },
      ]),
      tools: ['create_file', 'execute_command', 'browser_navigate_to'],
    });
    await client.waitForEvent(run.id, 'browser.state');

    await browser.open(`/console/runs/${run.id}`);
    await page.getByRole('button', { name: 'Watch the browser' }).click();
    const dialog = page.getByRole('dialog', { name: "The agent's browser" });
    await dialog.getByRole('img', { name: 'The page Busy' }).waitFor();
    expect(await dialog.getByRole('application').count()).toBe(0);

    await client.json('POST', `/runs/${run.id}/stop`);
  });

  it('says that none runs any more', async () => {
    const { data: runs } = await client.json<{ data: { id: string; thread_id: string }[] }>('GET', '/runs');
    const { id = '', thread_id: thread = '' } = runs.at(-1) ?? {};
    const sandbox = await client.json<{ id: string }>('GET', `/threads/${thread}/sandbox`);
    await client.json('POST', `/sandboxes/${sandbox.id}/stop`);

    await browser.open(`/console/runs/${id}`);
    await page.getByRole('button', { name: 'Operate the browser' }).click();

    await page.getByRole('alert').getByText('no browser runs in it').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
  });
});
