import { type RondoClient } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { ordinaryConsole } from '../shared-deployment';

describe('the list of runs in the console', () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
    const { id } = await client.createRun({ model: 'demo/plain', input: 'Of no team.' });
    await client.waitForRun(id);
  });

  afterAll(async () => {
    await stopBrowser(browser);
  });

  const rows = () => page.getByRole('list', { name: 'Runs' }).getByRole('listitem');
  const statuses = async () => {
    const { data } = await client.json<{ data: { status: string }[] }>(
      'GET',
      '/runs?metadata_key=team&metadata_value=red',
    );
    return data.map(({ status }) => status);
  };

  /** Presses the button, and the one that confirms it; resolves when all are done. */
  const withAll = async (action: string, question: string, count: number) => {
    await page.getByRole('button', { name: action }).click();
    const dialog = page.getByRole('dialog', { name: action });
    await dialog.getByText(question).waitFor();
    await dialog.getByRole('button', { name: action }).click();
    await dialog.getByText(`${count} of ${count} done.`).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
  };

  it('says how long a run took as the page of the run does', async () => {
    const time = (facts: string) => /[\d.]+ m?s/.exec(facts)?.[0];
    await browser.open('/console/runs');
    const row = page.getByRole('link', { name: 'Of no team.' });
    const listed = time(await row.locator('.run-facts').innerText());
    await row.click();
    expect(time(await page.locator('.run-head .run-facts').getByText(/ m?s$/).innerText())).toBe(listed);
    expect(listed).toBeDefined();
  });

  it('is filtered by what the API filters, and the address keeps it', async () => {
    for (const input of ['First.', 'Second.'])
      await client.createRun({ model: 'demo/long:tokens=9000', input, metadata: { team: 'red' } });
    const third = await client.createRun({ model: 'demo/plain', input: 'Third.', metadata: { team: 'red' } });
    await client.waitForRun(third.id);
    await browser.open('/console/runs');
    await page.getByText('More filters').click();
    await page.getByLabel('Metadata, name').fill('team');
    await page.getByLabel('Metadata, value').fill('red');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.waitForURL(/key=team.*value=red/);
    await page.getByRole('link', { name: 'Of no team.' }).waitFor({ state: 'detached' });
    expect(await rows().count()).toBe(3);
    await browser.expectThisAccessibleInEveryLook('the filters of runs');

    await page.getByRole('button', { name: 'Save these filters' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Red team');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await browser.open('/console/runs');
    await page.getByRole('link', { name: 'Red team' }).click();
    await page.waitForURL(/key=team.*value=red/);
    await browser.expectThisAccessibleInEveryLook('saved filters of runs');
    await page.getByRole('button', { name: 'Forget the filters Red team' }).click();
    await page.getByRole('button', { name: 'Save these filters' }).waitFor();

    await page.getByLabel('Model', { exact: true }).fill('demo/plain');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('link', { name: 'First.' }).waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('link', { name: 'Third.' }).waitFor();
    expect(await rows().count()).toBe(1);
    await page.getByRole('link', { name: 'Without these' }).click();
    await page.getByRole('link', { name: 'Of no team.' }).waitFor();
  });

  it('has beside it what ended runs badly, grouped by kind', async () => {
    for (const input of ['Fail.', 'Fail again.']) {
      const { id } = await client.createRun({ model: 'demo/error-500', input });
      await client.waitForRun(id);
    }
    const early = await client.createRun({ model: 'demo/loop', input: 'On and on.', limits: { max_iterations: 2 } });
    await client.waitForRun(early.id);
    await browser.open('/console/runs');
    await page.getByRole('link', { name: 'Errors' }).click();
    const rows = page.getByRole('region', { name: 'Errors' }).getByRole('row');
    await rows.filter({ hasText: 'max_iterations' }).getByText('demo/loop').waitFor();
    await rows.filter({ hasText: 'demo/error-500' }).getByRole('link').nth(1).waitFor();
    expect(await rows.count()).toBe(3);
    await browser.expectThisAccessibleInEveryLook('the errors of runs');
    await rows.filter({ hasText: 'demo/error-500' }).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Fail again.' }).waitFor();
  });

  it('stops, starts again and deletes all that the filters leave, and no others', async () => {
    await browser.open('/console/runs?key=team&value=red');
    await rows().nth(2).waitFor();
    await withAll('Stop all', 'Stop 2 runs that are not over?', 2);
    expect((await statuses()).sort()).toEqual(['completed', 'stopped', 'stopped']);

    await page.getByRole('button', { name: 'Run all again' }).click();
    await page.getByText('Start 3 runs again').waitFor();
    await browser.expectThisAccessibleInEveryLook('the dialog to start runs again');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await withAll('Run all again', 'Start 3 runs again', 3);
    await rows().nth(5).waitFor();
    expect(await statuses()).toHaveLength(6);

    const short = await client.json<{ data: { id: string }[] }>('GET', '/runs?q=Third');
    for (const { id } of short.data) await client.waitForRun(id);
    await withAll('Stop all', 'Stop 2 runs', 2);
    await withAll('Delete all', 'Delete 6 threads', 6);
    await page.getByText('No run matches these filters.').waitFor();
    await browser.open('/console/runs');
    await page.getByRole('link', { name: 'Of no team.' }).waitFor();
    expect(await rows().count()).toBe(4); // with those of the page of errors
  });
});
