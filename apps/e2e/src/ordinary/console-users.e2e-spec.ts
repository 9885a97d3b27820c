import { type RondoClient } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { ordinaryConsole } from '../shared-deployment';

describe('the users of an account in the console', () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
    for (const user of ['4711', 'Ada', undefined]) {
      const { id } = await client.createRun({ model: 'demo/plain', input: `Of ${user ?? 'no one'}.`, user });
      await client.waitForRun(id);
    }
  });

  afterAll(async () => {
    await stopBrowser(browser);
  });

  it('are filters of runs and of threads, also with a name that is a number', async () => {
    await browser.open('/console/runs');
    await page.getByText('More filters').click();
    await page.getByLabel('User', { exact: true }).fill('4711');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('link', { name: 'Of Ada.' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Of 4711.' }).getByText('for 4711').waitFor();

    await browser.open('/console/threads?user=4711');
    await page.getByRole('link', { name: 'Of 4711.' }).waitFor();
    expect(await page.getByRole('list', { name: 'Threads' }).getByRole('listitem').count()).toBe(1);
    await page.getByRole('button', { name: 'Threads of all users' }).click();
    await page.getByRole('link', { name: 'Of no one.' }).waitFor();
  });

  it('have their usage, and are erased with a report', async () => {
    await browser.open('/console/usage');
    const byUser = page.getByRole('region', { name: 'Usage by user' });
    await byUser.getByRole('link', { name: '4711' }).click();
    await page.getByRole('heading', { name: '4711' }).waitFor();
    await page.getByRole('link', { name: 'Usage' }).click();
    const row = byUser.getByRole('row', { name: 'Ada' });
    expect(await row.getByRole('cell').first().innerText()).toBe('1');
    await page.getByRole('region', { name: 'Usage by key' }).getByRole('row').nth(1).waitFor();
    await row.getByRole('link', { name: 'Ada' }).click();
    await page.getByRole('heading', { name: 'Ada' }).waitFor();
    await browser.expectThisAccessibleInEveryLook('a user');

    await page.getByRole('button', { name: 'Erase this user' }).click();
    const dialog = page.getByRole('dialog', { name: 'Erase Ada?' });
    await dialog.getByText('their 1 thread ').waitFor();
    await dialog.getByRole('button', { name: 'Erase this user' }).click();
    await page.getByRole('heading', { name: 'Erased: Ada' }).waitFor();
    await browser.expectThisAccessibleInEveryLook('the report of an erased user');
    await page.evaluate('history.go(-2)');
    await page.getByRole('heading', { name: '4711' }).waitFor(); // another person, whom the report is not about
    await browser.open('/console/threads?user=Ada');
    await page.getByText('No thread matches these filters.').waitFor();
  });

  it('may have names without a space that are longer than the screen', async () => {
    const user = 'u'.repeat(120);
    const { id } = await client.createRun({ model: 'demo/plain', input: 'Of a long name.', user });
    await client.waitForRun(id);
    await page.setViewportSize({ width: 390, height: 780 });
    for (const [path, shown] of [
      [`/console/users/${user}`, page.getByRole('heading', { name: user })],
      ['/console/usage', page.getByRole('link', { name: user })],
    ] as const) {
      await browser.open(path);
      await shown.waitFor();
      const { x = 0, width = Infinity } = (await shown.boundingBox()) ?? {};
      expect(x + width).toBeLessThanOrEqual(390);
      expect(await page.evaluate('document.querySelector("#page").scrollWidth')).toBeLessThanOrEqual(390);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });
});
