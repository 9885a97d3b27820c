import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type RondoClient, type RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import type { Page, Route } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { newAccount, ordinaryConsole } from '../shared-deployment';

const ask = (text: string) => ({ calls: [{ name: 'ask', arguments: { text } }] });

/** Whether nothing covers what is said of the field that has the focus. */
const isRefusalInSight = `(() => {
  const note = document.querySelector('.field:has(:focus) .problem');
  if (note === null) return false;
  const { x, y, height } = note.getBoundingClientRect();
  return note.contains(document.elementFromPoint(x + 5, y + height / 2));
})()`;

describe('what a person writes in the console', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ rondo, client, browser, page } = await ordinaryConsole());
  });

  afterAll(async () => {
    await stopBrowser(browser);
  });

  const guard = () => page.getByRole('dialog', { name: 'Leave this page?' });

  /** Keeps requests to an address until they are let go. Resolves when the first one has come. */
  async function hold(url: string, method = 'POST') {
    const held: Route[] = [];
    let open = false;
    await page.route(url, (route) => {
      if (open || route.request().method() !== method) return route.continue();
      held.push(route);
      return undefined;
    });
    const release = async () => {
      open = true;
      await Promise.all(held.map((route) => route.continue()));
    };
    return { held, release };
  }

  /** Has the page read this address again, and fail, as when its window is looked at again while the gateway starts. */
  async function refuse(url: string) {
    let refusals = 0;
    const json = { type: 'about:blank', title: 'Internal Server Error', status: 500, code: 'internal_error' };
    await page.route(url, (route) => {
      refusals += 1;
      return route.fulfill({ status: 500, json });
    });
    while (refusals < 3) await page.evaluate('dispatchEvent(new Event("visibilitychange"))'); // the third is after the failure is shown
    await page.unroute(url);
  }

  it('is not left unasked: not by a link, nor by the way back, nor with the tab', async () => {
    await browser.open('/console/agents');
    await page.getByRole('link', { name: 'New agent' }).click();
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('half-written');
    await page.getByRole('link', { name: 'Usage' }).click();
    await guard().waitFor();
    await browser.expectThisAccessibleInEveryLook('the question whether to leave');
    await guard().getByRole('button', { name: 'Stay' }).click();
    expect(await name.inputValue()).toBe('half-written');

    await page.goBack();
    await guard().waitFor();
    await page.keyboard.press('Escape');
    expect(await name.inputValue()).toBe('half-written');
    await page.waitForURL('**/agents/new');

    const asked = page.waitForEvent('dialog');
    const closing = page.evaluate('setTimeout(() => location.reload())');
    const dialog = await asked;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.dismiss();
    await closing;
    expect(await name.inputValue()).toBe('half-written');

    await page.getByRole('link', { name: 'Usage' }).click();
    await guard().getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  });

  it('as an answer to an MCP server is not left unasked, either', async () => {
    const expires_at = new Date(Date.now() + 600_000).toISOString();
    const fields = { title: { type: 'string', title: 'Title', required: true } };
    const of = { tool_call_id: 'call_1', key: 'form', server: 'tickets', name: 'tickets__create', mode: 'form' };
    const elicitations = [{ ...of, message: 'Which ticket?', expires_at, fields }];
    const data = [{ id: 'run_1', status: 'waiting_input', waiting: { reason: 'elicitation', elicitations } }];
    await page.route('**/v1/inbox?*', (route) => route.fulfill({ json: { data, has_more: false, next_cursor: null } }));
    await browser.open('/console/inbox');
    await page.getByLabel('Title').fill('The gate squeaks');
    await page.getByRole('link', { name: 'Usage' }).click();
    await guard().getByRole('button', { name: 'Stay' }).click();
    expect(await page.getByLabel('Title').inputValue()).toBe('The gate squeaks');
    await page.unroute('**/v1/inbox?*');
    await page.getByText('Nothing waits for you.').waitFor();
  });

  it('takes no file that cannot be read, and does not say that the server is away', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'rondo-gone-')), 'gone.txt');
    writeFileSync(path, 'a text');
    await browser.open('/console/threads/new');
    await page.evaluate('document.body.append(Object.assign(document.createElement("input"), { type: "file" }))');
    await page.locator('body > input').setInputFiles(path);
    rmSync(dirname(path), { recursive: true }); // a folder that is dropped cannot be read, either
    await page.evaluate(`(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(document.querySelector('body > input').files[0]);
      document.querySelector('.rondo-composer').dispatchEvent(new DragEvent('drop', { bubbles: true, dataTransfer }));
    })()`);
    await page.getByText('gone.txt cannot be read.').waitFor();
    expect(await page.getByText('Connection lost').count()).toBe(0);
    await page.getByRole('button', { name: 'Remove gone.txt' }).click();
  });

  it('is not asked about once it is stored', async () => {
    await browser.open('/console/agents/new');
    await page.getByLabel('Name', { exact: true }).fill('whole');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Version 1 of 1').waitFor();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  });

  it('is refused beside its field, in plain English, and the field has the focus', async () => {
    const focused = () => page.evaluate<string>('document.activeElement.labels?.[0]?.textContent');
    await browser.open('/console/agents/new');
    await page.getByLabel('Name', { exact: true }).fill('refused');
    await page.getByLabel('Max iterations').fill('1.5');
    await page.getByLabel('Temperature').fill('9');
    await page.getByText('Environment', { exact: true }).click();
    await page.getByLabel('Repository', { exact: true }).fill('http://example.com');
    await page.getByText('Environment: the repository').click();
    await page.getByRole('button', { name: 'Create' }).click();
    const iterations = page.locator('.field', { hasText: 'Max iterations' });
    await iterations.getByText('This must be a whole number.').waitFor();
    await page.locator('.field', { hasText: 'Temperature' }).getByText('This must be at most 2.').waitFor();
    await page.locator('.field', { hasText: 'Repository' }).getByText('This must be https://host/path').waitFor();
    expect(await focused()).toBe('Max iterations');
    await browser.expectThisAccessibleInEveryLook('refused fields');
    expect(await page.locator('.editor-end .problem').count()).toBe(0);

    await page.setViewportSize({ width: 640, height: 400 }); // what is left of 1280 by 800 at twice the size
    const answered = page.waitForResponse('**/v1/agents');
    await page.getByRole('button', { name: 'Create' }).click();
    await answered;
    while (!(await page.evaluate<boolean>(isRefusalInSight))); // until it is drawn
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByLabel('Max iterations').fill('15');
    await page.getByLabel('Temperature').fill('1');
    await page.getByRole('button', { name: 'Create' }).click();
    while ((await focused()) !== 'Repository'); // until it is drawn

    await browser.open('/console/schedules');
    await page.getByRole('button', { name: 'New schedule' }).click();
    await page.getByLabel('Name', { exact: true }).fill('each morning');
    await page.getByLabel('What it is asked').fill('Go.');
    await page.getByLabel('Model', { exact: true }).fill('nonsense');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.locator('.field', { hasText: 'Model' }).getByText('it must look like provider/model.').waitFor();
    expect(await focused()).toBe('Model');
    await page.getByLabel('When, as a cron expression').fill('61 25 * *');
    await page.locator('.field', { hasText: 'cron' }).getByText('This must have five fields').waitFor();
  });

  it('stays where a run is looked at as it was before', async () => {
    const { id } = await client.createRun(scriptInput('Ask me.', [ask('Which colour?'), { text: 'Done.' }]));
    await client.waitForRun(id);
    await browser.open(`/console/runs/${id}`);
    await page.getByLabel('Your answer').fill('The green of the roof.');
    await page.getByRole('slider').press('Home');
    await page.getByText('State after event 1.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Your answer' }).count()).toBe(0);
    await page.getByRole('slider').press('End');
    expect(await page.getByRole('textbox', { name: 'Your answer' }).inputValue()).toBe('The green of the roof.');
  });

  it('is sent once as an answer, and the next question of the run gets an answer of its own', async () => {
    const task = scriptInput('Ask me twice.', [ask('Which colour?'), ask('Which size?'), { text: 'Done.' }]);
    const { id } = await client.createRun(task);
    await client.waitForRun(id);
    await browser.open('/console/inbox');
    const item = page.locator('.waiting', { hasText: 'Ask me twice.' });
    const answers = await hold(`**/v1/runs/${id}/input`);
    await item.getByLabel('Your answer').fill('Green.');
    await page.keyboard.press('Control+Enter');
    await page.keyboard.press('Control+Enter');
    await item.getByRole('button', { name: 'Sending …' }).waitFor();
    await answers.release();
    await item.getByText('Which size?').waitFor();
    expect(answers.held).toHaveLength(1);
    expect(await item.getByLabel('Your answer').inputValue()).toBe('');
    await item.getByLabel('Your answer').fill('Large.');
    await item.getByRole('button', { name: 'Answer' }).click();
    await item.waitFor({ state: 'detached' });
    await client.waitForRun(id);
    expect(JSON.stringify(await client.facts(id))).toContain('Large.');
  });

  it('while a message is sent is the next message, and what could not be sent is there again', async () => {
    const { id, thread_id: threadId } = await client.createRun({ model: 'demo/plain', input: 'Begin.' });
    await client.waitForRun(id);
    await browser.open(`/console/threads/${threadId}`);
    const field = page.getByRole('textbox', { name: 'Message' });
    const sent = await hold('**/v1/runs');
    await field.fill('The first.');
    await field.press('Enter');
    await field.pressSequentially('The second.');
    await sent.release();
    await page.getByRole('article', { name: 'You' }).getByText('The first.').waitFor();
    expect(await field.inputValue()).toBe('The second.');

    const json = { type: 'about:blank', title: 'Refused', status: 422, code: 'invalid_request', detail: 'Not that.' };
    await page.route('**/v1/runs', (route) => route.fulfill({ status: 422, json }));
    await field.press('Enter');
    await page.getByText('Not that.').waitFor();
    expect(await field.inputValue()).toBe('The second.');
    await page.unroute('**/v1/runs');
  });

  it('while a first message or an edited question is sent is the next message of that thread', async () => {
    await browser.open('/console/threads/new');
    const field = page.getByRole('textbox', { name: 'Message' });
    const first = await hold('**/v1/runs');
    await page.getByLabel('Model', { exact: true }).fill('demo/plain');
    await field.fill('The first.');
    await field.dispatchEvent('keydown', { key: 'Enter', keyCode: 229 }); // ends what an input method has composed, in Safari
    expect(await field.inputValue()).toBe('The first.');
    await field.press('Enter');
    await field.pressSequentially('The second,');
    await page.getByRole('button', { name: 'Sending …' }).waitFor();
    await first.release();
    await page.waitForURL(/\/thr_/);
    await page.getByText('You said: The first.').waitFor();
    await page.keyboard.type(' in blue.');
    expect(await field.inputValue()).toBe('The second, in blue.');

    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await field.inputValue()).toBe('The first.');
    const edited = await hold('**/v1/runs');
    await field.fill('The other first.');
    await field.press('Enter');
    await field.pressSequentially('The third.');
    await edited.release();
    await page.getByText('You said: The other first.').waitFor();
    expect(await field.inputValue()).toBe('The second, in blue.\nThe third.');
    await field.fill('');
    await page.unroute('**/v1/runs');
  });

  it('while an agent or an entry of memory is saved is the next change of it', async () => {
    const { id } = await client.json<{ id: string }>('POST', '/agents', { definition: { name: 'of-steps' } });
    await browser.open(`/console/agents/${id}`);
    const prompt = page.getByLabel('System prompt');
    await prompt.fill('One.');
    const saved = await hold(`**/v1/agents/${id}`, 'PATCH');
    await page.getByRole('button', { name: 'Save as version 2' }).click();
    await prompt.pressSequentially(' Two.');
    await saved.release();
    await page.getByText('Version 2 of 2').waitFor();
    expect(await prompt.inputValue()).toBe('One. Two.');
    await page.getByRole('button', { name: 'Save as version 3' }).click();
    await page.getByText('Version 3 of 3').waitFor();
    expect(await client.json('GET', `/agents/${id}`)).toMatchObject({ definition: { system_prompt: 'One. Two.' } });

    const store = await client.json<{ id: string }>('POST', '/memory-stores', { name: 'of-steps' });
    await client.json('PUT', `/memory-stores/${store.id}/entry?path=a.md`, { content: 'None.' });
    await browser.open(`/console/agents/memory/${store.id}?path=a.md`);
    await page.getByRole('button', { name: 'Edit' }).click();
    const text = page.getByRole('textbox', { name: 'Content of a.md' });
    await text.fill('One.');
    const written = await hold(`**/v1/memory-stores/${store.id}/entry?*`, 'PUT');
    await page.getByRole('button', { name: 'Save' }).click();
    await text.pressSequentially(' Two.');
    await written.release();
    await page.getByRole('link', { name: 'version 2' }).waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'version 3' }).waitFor();
    await page.getByText('One. Two.').waitFor();
    expect(await text.count()).toBe(0);
  });

  it('stays while its thread, or the call that it is about, cannot be read again', async () => {
    const { id, thread_id: threadId } = await client.createRun({ model: 'demo/plain', input: 'Begin.' });
    await client.waitForRun(id);
    await browser.open(`/console/threads/${threadId}`);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('Half a sentence');
    await refuse(`**/v1/threads/${threadId}`);
    expect(await field.inputValue()).toBe('Half a sentence');
    await field.fill('');

    const script = scriptInput('Ask before.', [{ calls: [command('echo a')] }, { text: 'Done.' }]);
    const run = await client.createRun({ ...script, tools: { execute_command: { require_approval: true } } });
    await client.waitForRun(run.id);
    await browser.open(`/console/runs/${run.id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    const words = page.getByLabel('Arguments, as JSON');
    await words.fill('{"command": "echo b"}');
    await refuse('**/v1/approvals/*');
    expect(await words.inputValue()).toBe('{"command": "echo b"}');
    await page.getByRole('button', { name: 'Leave as it was' }).click();
  });

  it('is not lost to a key of another account, when the session has ended meanwhile', async () => {
    const other = await newAccount(rondo);
    await browser.open('/console/threads/new');
    const words = page.getByRole('textbox', { name: 'Message' });
    await words.fill('It must not be lost.');
    await page.context().clearCookies();
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.getByLabel('API key').fill(other.key);
    await page.keyboard.press('Enter');
    await dialog.getByText('This key is of the account').waitFor();
    await dialog.getByLabel('API key').fill(client.key);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(await words.inputValue()).toBe('It must not be lost.');
    await words.fill('');
  });

  it('in a tab beside one that signs in to another account is not sent to that one', async () => {
    await browser.open('/console/agents');
    await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
    const other = await newAccount(rondo);
    const { path } = await other.json<{ path: string }>('POST', '/session/links', {});
    const loaded = page.waitForEvent('load');
    const opened = page.waitForEvent('popup');
    await page.evaluate('void open("about:blank")');
    const beside = await opened;
    await beside.goto(`${other.url}${path}`);
    await loaded; // though it was in sight all the time
    await beside.close();
    await browser.signIn();
  });
});
