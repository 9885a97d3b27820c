import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RondoClient } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { CommandLine } from '../command-line';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { ordinaryConsole } from '../shared-deployment';

describe('evaluations in the console', () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;
  let line: CommandLine;

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
    line = new CommandLine(client);
  });
  afterAll(async () => {
    line.remove();
    await stopBrowser(browser);
  });

  /** Asks two questions. The answers to all but `wrong` are right, whatever they are. */
  async function evaluate(name: string, wrong: string): Promise<void> {
    const tasks = ['capital', 'pi'].map((task_id) => ({
      ...{ task_id, question: `What is <b>${task_id}</b>?`, scorer: 'regex' },
      answer: task_id === wrong ? '^never$' : '.',
    }));
    writeFileSync(join(line.folder, `${name}.jsonl`), tasks.map((task) => `${JSON.stringify(task)}\n`).join(''));
    const ended = await line.inPipe(['eval', 'run', `${name}.jsonl`, '--name', name, '-m', 'demo/plain']);
    expect(ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining('not stored') });
  }

  it('what `rondo eval run` has found is listed with its score', async () => {
    await browser.open('/console/runs');
    await page.getByRole('link', { name: 'Evaluations' }).click();
    await page.getByText('No evaluations yet.').waitFor();
    await browser.expectThisAccessibleInEveryLook('no evaluations');
    await evaluate('before', 'capital');
    await evaluate('after', 'pi');
    await page.reload();
    const row = page.getByRole('region', { name: 'Evaluations' }).getByRole('row', { name: 'before' });
    await row.getByText('50 %').waitFor();
    await row.getByText('1 of 2').waitFor();
    await browser.expectThisAccessibleInEveryLook('the evaluations');
    await page.getByRole('link', { name: 'after', exact: true }).click();
  });

  it('two are compared, task by task', async () => {
    const row = (name: string) => page.getByRole('region', { name: 'Tasks' }).getByRole('row', { name });
    await row('pi').getByText('wrong').waitFor();
    await page.getByLabel('Compare with').selectOption({ label: 'before, 50 %' });
    await page.getByText('1 gained and 1 lost of the 2 tasks that both have scored.').waitFor();
    await page.getByRole('link', { name: 'Lost 1' }).click();
    await row('capital').waitFor({ state: 'detached' });
    await row('pi').getByRole('link', { name: 'right' }).waitFor();
    await browser.expectThisAccessibleInEveryLook('two evaluations');
  });

  it('a task leads to the run that answered it', async () => {
    await page.getByRole('link', { name: 'pi', exact: true }).click();
    await page.waitForURL(/\/console\/runs\/run_/);
    await page.getByRole('heading', { name: 'pi: What is <b>pi</b>?' }).waitFor();
  });

  it('is deleted, and its runs stay', async () => {
    await page.goBack();
    await page.getByRole('button', { name: 'Delete this evaluation' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('link', { name: 'before', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'after', exact: true }).count()).toBe(0);
    const { data } = await client.json<{ data: object[] }>('GET', '/runs');
    expect(data).toHaveLength(4);
  });

  it('one that was deleted elsewhere is not compared with any longer, nor shown', async () => {
    const store = async (name: string) => {
      await evaluate(name, 'pi');
      const { data } = await client.json<{ data: { id: string; name: string }[] }>('GET', '/evaluations');
      return data.find((one) => one.name === name)?.id ?? '';
    };
    /** As often as a person comes back to the page, until it has been read anew. */
    const comeBackTo = async (text: string) => {
      while ((await page.getByText(text).count()) === 0)
        await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
    };
    const [shown, other] = [await store('gone'), await store('gone-too')];
    await browser.open(`/console/runs/evaluations/${shown}?other=${other}`);
    const comparison = page.getByText('of the 2 tasks that both have scored.');
    await comparison.waitFor();
    await client.request('DELETE', `/evaluations/${other}`);
    await comeBackTo('There is no evaluation');
    expect(await comparison.count()).toBe(0);
    await client.request('DELETE', `/evaluations/${shown}`);
    await comeBackTo('Not found');
  });
});
