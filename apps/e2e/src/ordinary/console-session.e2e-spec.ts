import { type RondoClient, type RunningRondo, scriptInput } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { newAccount, ordinaryConsole } from '../shared-deployment';

const call = (line: string) => ({ name: 'execute_command', arguments: { command: line, blocking: true, timeout: 10 } });

describe('the console of an account', () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;
  let rondo: RunningRondo;

  beforeAll(async () => {
    ({ rondo, client, browser, page } = await ordinaryConsole());
  });

  afterAll(async () => {
    await stopBrowser(browser);
  });

  it('asks to sign in when the session ends, keeps what was typed, and reads nothing until then', async () => {
    await browser.open('/console/threads/new');
    const words = page.getByRole('textbox').first();
    await words.fill('A long message that must not be lost.');
    await page.context().clearCookies();
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.waitFor(); // the inbox is read every few seconds
    await browser.expectThisAccessibleInEveryLook('the dialog to sign in again');
    await page.keyboard.press('Escape');
    let requests = 0;
    page.on('request', () => (requests += 1));
    await page.waitForTimeout(5_000); // longer than any interval of reading
    expect(requests).toBe(0);

    await dialog.getByLabel('API key').fill(client.key);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(await words.inputValue()).toBe('A long message that must not be lost.');
  });

  it('offers an admin of another account no page of the whole deployment, and a reader no form', async () => {
    await browser.open('/console/runs');
    await page.getByRole('link', { name: 'Keys', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Health' }).count()).toBe(0);
    await browser.open('/console/health');
    await page.getByText('the account that operates this deployment').waitFor();

    const { key } = await client.json<{ key: string }>('POST', '/api-keys', { name: 'reader', scopes: ['read'] });
    await page.context().clearCookies();
    await browser.open('/console/threads/new');
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByText('a key that may write').waitFor();
    await browser.open('/console/keys');
    await page.getByText('an admin key of this account').waitFor();
    await browser.expectThisAccessibleInEveryLook('a page that the key may not use');
    await page.context().clearCookies();
    await browser.signIn();
  });

  it('shows nothing of the former account when another tab has signed in to another one', async () => {
    await browser.open('/console/agents');
    await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
    const other = await newAccount(rondo);
    const { path } = await other.json<{ path: string }>('POST', '/session/links', {});
    await page.request.get(`${other.url}${path}`); // the cookie is that of all tabs
    const loaded = page.waitForEvent('load');
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
    await loaded;
    await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
    await browser.signIn();
  });

  it('calls a user of an outside issuer a user, and not a key', async () => {
    await page.route('**/v1/session', async (route) => {
      const { caller_name: _, ...who } = (await (await route.fetch()).json()) as Record<string, string>;
      await route.fulfill({ json: { ...who, caller_id: 'usr_7' } });
    });
    await browser.open('/console/runs');
    await page.getByLabel('Signed in as').getByText('User', { exact: true }).waitFor();
    expect(await page.getByLabel('Signed in as').innerText()).toContain('usr_7');
    await page.unroute('**/v1/session');
  });

  it('offers to try again where a page could not be read', async () => {
    await page.route('**/v1/agents/agt_*', (route) => route.fulfill({ status: 500, json: { detail: 'It broke.' } }));
    const { id } = await client.json<{ id: string }>('POST', '/agents', { definition: { name: 'steady' } });
    await browser.open(`/console/agents/${id}`);
    await page.getByRole('heading', { name: 'This cannot be shown now' }).waitFor();
    await page.unroute('**/v1/agents/agt_*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'steady' }).waitFor();
  });

  it('keeps what is typed into the filters of the audit log while the names of keys come', async () => {
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/v1/api-keys?*', (route) => held.then(() => route.continue()));
    await browser.open('/console/keys/audit');
    const action = page.getByLabel('Action');
    await action.fill('api_key.create');
    answer();
    const names = page.getByLabel('By', { exact: true }).getByRole('option');
    await names.nth(1).waitFor({ state: 'attached' });
    expect(await action.inputValue()).toBe('api_key.create');
    await page.unroute('**/v1/api-keys?*');
  });

  it('shows as many rows after the way back, at the same place', async () => {
    for (let number = 1; number <= 45; number += 1) {
      const { id } = await client.createRun({ model: 'demo/plain', input: `Run number ${number}.` });
      await client.json('POST', `/runs/${id}/stop`, {});
    }
    await browser.open('/console/runs');
    await page.getByRole('button', { name: 'Show older runs' }).click();
    const first = page.getByRole('link', { name: 'Run number 1.' });
    await first.scrollIntoViewIfNeeded();
    const place = () => page.evaluate<number>('document.querySelector("#page").scrollTop');
    const before = await place();
    expect(before).toBeGreaterThan(0);
    await first.click();
    await page.getByRole('heading', { level: 1, name: 'Run number 1.' }).waitFor();
    await page.goBack();
    await first.waitFor();
    await page.waitForFunction(`document.querySelector("#page").scrollTop === ${before}`);
  });

  it('leaves space for the answer to a long question, also on a phone', async () => {
    const question = { text: `Which one? ${'There is much to say about each of them. '.repeat(80)}` };
    const asked = await client.createRun(scriptInput('Ask me.', [{ calls: [{ name: 'ask', arguments: question }] }]));
    await client.waitForRun(asked.id);
    await page.setViewportSize({ width: 390, height: 780 });
    for (const path of [`/console/runs/${asked.id}`, `/console/threads/${asked.thread_id}`]) {
      await browser.open(path);
      const sentence = page.getByText('Waits for an answer to');
      expect((await sentence.boundingBox())?.height).toBeLessThan(60);
      await page.getByRole('textbox').fill('The first one.');
      const { y = Infinity, height = 0 } =
        (await page.getByRole('button', { name: 'Answer', exact: true }).boundingBox()) ?? {};
      expect(y + height).toBeLessThan(780);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('approves all calls of a run at once, and tells the model why one was denied', async () => {
    const task = scriptInput('Go.', [{ calls: [call('echo one'), call('echo two')] }, { text: 'Done.' }]);
    const approval = { tools: { execute_command: { require_approval: true } } };
    const both = await client.createRun({ ...task, ...approval });
    await client.waitForRun(both.id);
    await page.setViewportSize({ width: 640, height: 400 }); // what is left of 1280 by 800 at twice the size
    await browser.open(`/console/threads/${both.thread_id}`);
    await page.getByRole('group', { name: 'Approval of execute_command' }).nth(1).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click({ trial: true }); // nothing covers it
    await page.setViewportSize({ width: 1280, height: 800 });
    await browser.open(`/console/runs/${both.id}`);
    await page.getByRole('group', { name: 'Approval of execute_command' }).nth(1).waitFor();
    await browser.expectAccessible('two approvals');
    const all = page.getByRole('button', { name: 'Approve all 2' });
    await page.getByRole('button', { name: 'Edit' }).first().click();
    await all.waitFor({ state: 'detached' }); // it would send other arguments than those in sight
    await page.getByRole('button', { name: 'Leave as it was' }).click();
    await all.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve all 2' }).click();
    await page.getByText('Completed', { exact: true }).waitFor();
    const byItsName = page.getByText(/Approved with the key (?!key_)/);
    await byItsName.nth(1).waitFor();

    const denied = await client.createRun({
      ...scriptInput('Again.', [{ calls: [call(`echo three ${'and more '.repeat(100)}`)] }, { text: 'Done.' }]),
      ...approval,
    });
    await client.waitForRun(denied.id);
    await browser.open(`/console/runs/${denied.id}`);
    await page.setViewportSize({ width: 390, height: 780 });
    const approve = await page.getByRole('button', { name: 'Approve' }).boundingBox();
    const bar = await page.getByRole('slider').boundingBox();
    expect((approve?.y ?? Infinity) + (approve?.height ?? 0)).toBeLessThan(bar?.y ?? 0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
    await page.getByRole('button', { name: 'Leave as it was' }).click();
    await page.getByRole('button', { name: 'Deny' }).click();
    await browser.expectThisAccessibleInEveryLook('the dialog to deny a call');
    await page.getByLabel('Reason').fill('Three is too much.');
    await page.getByRole('button', { name: 'Deny the call' }).click();
    await page.getByText('Completed', { exact: true }).waitFor();
    expect(JSON.stringify(await client.facts(denied.id))).toContain('Three is too much.');
  });
});
