import { type MemoryStore } from '@rondo/client';
import { type RondoClient, call, scriptInput } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { ordinaryConsole } from '../shared-deployment';

const hostile = 'Ann likes green tea.\n<img src=x onerror=alert(1)> **bold**';

describe('memory in the console', () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;
  let store: MemoryStore;

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
  });
  afterAll(async () => {
    await stopBrowser(browser);
  });

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const refused = (text: RegExp) => page.getByRole('alert').getByText(text).waitFor();
  const entry = () => page.getByRole('region', { name: 'people/ann.md' });
  const content = () => page.getByLabel('Content', { exact: true });
  const editor = () => page.getByLabel('Content of people/ann.md');
  const versions = () => page.getByRole('region', { name: 'Versions' }).getByRole('row');
  const entries = () => page.getByRole('region', { name: 'Entries', exact: true });
  const confirm = (name: string) => page.getByRole('dialog').getByRole('button', { name }).click();
  const put = (path: string, text: string) =>
    client.json('PUT', `/memory-stores/${store.id}/entry?path=${encodeURIComponent(path)}`, { content: text });

  it('a store is created for a user; what is refused is said at its field', async () => {
    await client.json('POST', '/memory-stores', { name: 'handbook', description: 'What all may know.' });
    await client.json('PUT', '/agents/by-name/writer', { definition: { model: 'demo/plain' } });
    await browser.open('/console/agents');
    await page.getByRole('link', { name: 'Memory' }).click();
    await page
      .getByRole('row', { name: /handbook/ })
      .getByText('the account')
      .waitFor();
    await press('New store');
    await page.getByLabel('Name', { exact: true }).fill('My Preferences');
    await page.getByLabel('Who can use it').selectOption('agent');
    await page.getByLabel('Agent', { exact: true }).selectOption({ label: 'writer' });
    await page.getByLabel('Who can use it').selectOption('user');
    await page.getByLabel('User', { exact: true }).fill('4711');
    await press('Create');
    await refused(/Lower-case letters/);
    expect(await page.getByLabel('Name', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await browser.expectThisAccessibleInEveryLook('a store that was refused');

    await page.getByLabel('Name', { exact: true }).fill('preferences');
    await press('Create');
    await page.getByRole('heading', { level: 1, name: 'preferences' }).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    store = await client.json('GET', `/memory-stores/${id}`);
    expect(store).toMatchObject({ name: 'preferences', user: '4711', agent_id: null });
  });

  it('stores are found by their user', async () => {
    await page.getByRole('link', { name: 'Memory', exact: true }).click();
    await page.getByLabel('Stores of the user').fill('4711');
    await page.getByRole('row', { name: /handbook/ }).waitFor({ state: 'detached' });
    await browser.expectThisAccessibleInEveryLook('the stores of a user');
    await page.reload();
    await page
      .getByRole('row', { name: /preferences/ })
      .getByText('4711')
      .waitFor();
    expect(await page.getByRole('row', { name: /handbook/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'preferences' }).click();
  });

  it('an entry is written, and is shown as text', async () => {
    await entries().getByText('There is no entry yet.').waitFor();
    await page.getByText('New entry').click();
    await page.getByLabel('Path', { exact: true }).fill('../ann.md');
    await page.getByLabel('Text', { exact: true }).fill(hostile);
    await press('Create');
    await refused(/leads out of the folder/);
    await page.getByLabel('Path', { exact: true }).fill('people/ann.md');
    await press('Create');
    await entry().waitFor();
    expect(await content().innerText()).toBe(hostile);
    expect(await entry().locator('img, strong').count()).toBe(0);
    await entries().getByText('58 B, version 1').waitFor();
    await browser.expectThisAccessibleInEveryLook('an entry');
    await press('Create'); // the form has the path that is taken now
    await refused(/people\/ann\.md has version 1 now/);
  });

  it('an edit over a version that was replaced keeps what was typed, and is saved over the newer one', async () => {
    await press('Edit');
    await editor().fill('Ann likes black tea.');
    await put('people/ann.md', 'Ann likes coffee.');
    await press('Save');
    await refused(/people\/ann\.md has version 2 now, not version 1\. Your text is still here/);
    expect(await editor().inputValue()).toBe('Ann likes black tea.');
    await page.getByRole('region', { name: 'What a save changes' }).getByText('coffee').waitFor();
    await browser.expectThisAccessibleInEveryLook('an entry that someone else changed');
    await press('Save');
    await content().getByText('Ann likes black tea.').waitFor();
  });

  it('versions say who wrote them, and are opened', async () => {
    const write = call('memory_write', { store: 'preferences', path: 'people/ann.md', content: 'Ann likes water.' });
    const run = await client.createRun({
      ...scriptInput('Remember.', [{ calls: [write] }, { text: 'Done.' }]),
      ...{ user: '4711', memory: [{ store: 'preferences', policy: 'allow' }] },
    });
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    await page.reload();
    await content().getByText('Ann likes water.').waitFor();
    expect(await versions().count()).toBe(1 + 4);
    await versions()
      .nth(1)
      .getByRole('link', { name: /^run …/ })
      .waitFor();
    await versions().nth(4).getByText('A spec').waitFor();
    await versions().nth(4).getByRole('link', { name: 'version 1' }).click();
    await content().getByText('Ann likes green tea.').waitFor();
    await page.getByText('which is not the newest').waitFor();
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await browser.expectThisAccessibleInEveryLook('an earlier version');
    await versions().nth(1).getByRole('link', { name: 'version 4' }).click();
    await versions()
      .nth(1)
      .getByRole('link', { name: /^run …/ })
      .click();
    await page.getByText('Done.').first().waitFor();
    await page.goBack();
    await content().getByText('Ann likes water.').waitFor();
  });

  it('entries are searched by words', async () => {
    await put('people/ben.md', 'Ben likes lemonade.');
    await page.getByLabel('Words of entries').fill('lemonade');
    await entries().getByText('Ben likes lemonade').waitFor();
    expect(await entries().getByRole('listitem').count()).toBe(1);
    await browser.expectThisAccessibleInEveryLook('what was found');
    await entries().getByRole('link', { name: 'people/ben.md' }).click();
    await content().getByText('Ben likes lemonade').waitFor();
    await page.getByLabel('Words of entries').fill('beer');
    await entries().getByText('No entry has these words.').waitFor();
    await page.getByLabel('Words of entries').fill('');
    await entries().getByRole('link', { name: 'people/ann.md' }).click();
    await entry().waitFor();
  });

  it('an entry and a store are deleted, once that is confirmed', async () => {
    await press('Delete people/ann.md');
    await page.getByRole('dialog').getByText('Delete people/ann.md with all its versions?').waitFor();
    await confirm('Delete');
    await page.getByText('Choose an entry to see it.').waitFor();
    await entries().getByRole('link', { name: 'people/ann.md' }).waitFor({ state: 'detached' });
    await press('Delete this store');
    await confirm('Delete');
    await page.getByRole('row', { name: /handbook/ }).waitFor();
    expect(await page.getByRole('row', { name: /preferences/ }).count()).toBe(0);
  });

  it('a key that may only read is offered no change', async () => {
    store = await client.json('POST', '/memory-stores', { name: 'rules' });
    await put('a.md', 'Be kind.');
    const { key } = await client.json<{ key: string }>('POST', '/api-keys', { name: 'reader', scopes: ['read'] });
    await page.context().clearCookies();
    await browser.open('/console/agents/memory');
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'rules' }).waitFor();
    expect(await page.getByRole('button', { name: 'New store' }).count()).toBe(0);
    await page.getByRole('link', { name: 'rules' }).click();
    await page.getByRole('link', { name: 'a.md' }).click();
    await content().getByText('Be kind.').waitFor();
    for (const name of ['Edit', 'Delete', 'Create'])
      expect([name, await page.getByRole('button', { name }).count()]).toEqual([name, 0]);
    expect(await page.getByText('New entry').count()).toBe(0);
  });
});
