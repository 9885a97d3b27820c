import { type RondoClient, call, scriptInput } from '@rondo/test-deployment';
import { zipSync } from 'fflate';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { ordinaryConsole } from '../shared-deployment';

const manifest = (more = '') => `---
name: csv-totals
description: Adds up a column of a CSV file.
license: MIT
metadata: { author: Ada }
---

Run scripts/total.sh FILE COLUMN.${more}
`;
const script = '#!/bin/sh\nawk -F, "{ s += \\$1 } END { print s }" "$1"\n# <img src=x onerror=alert(1)>\n';
const pack = (files: Readonly<Record<string, string>>): Buffer =>
  Buffer.from(
    zipSync(Object.fromEntries(Object.entries(files).map(([path, text]) => [`csv-totals/${path}`, Buffer.from(text)]))),
  );

describe('skills in the console', () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
  });
  afterAll(async () => {
    await stopBrowser(browser);
  });

  const upload = (name: string, buffer: Buffer) =>
    page.getByLabel('Skill to upload').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
  const files = () => page.getByRole('region', { name: 'Files', exact: true });
  const content = () => page.getByLabel('Content', { exact: true });

  it('an archive is uploaded; what cannot be one is refused with the reason', async () => {
    await browser.open('/console/agents');
    await page.getByRole('link', { name: 'Skills' }).click();
    await page.getByText('No skills yet.').waitFor();
    await upload('bad.zip', pack({ 'SKILL.md': manifest(), '../out.sh': 'x' }));
    await page
      .getByRole('status')
      .getByText(/out\.sh/)
      .waitFor();
    await browser.expectThisAccessibleInEveryLook('a skill that was refused');

    await upload('csv-totals.zip', pack({ 'SKILL.md': manifest(), 'scripts/total.sh': script }));
    await page.getByText('csv-totals is stored; its newest version is 1.').waitFor();
    await upload('csv-totals.zip', pack({ 'SKILL.md': manifest(' Newer.'), 'scripts/total.sh': script }));
    await page.getByText('csv-totals is stored; its newest version is 2.').waitFor();
    const item = page.getByRole('list', { name: 'Skills' }).getByRole('link', { name: 'csv-totals' });
    await item.getByText('2 files').waitFor();
    await browser.expectThisAccessibleInEveryLook('the skills');
    await item.click();
  });

  it('the files of each version are read, as text', async () => {
    await page.getByRole('heading', { level: 1, name: 'csv-totals' }).waitFor();
    await content().getByText('Newer.').waitFor();
    await page.getByText('MIT', { exact: true }).waitFor();
    await page.getByText('Ada', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Version' }).selectOption('1');
    await page.waitForURL(/version=1/);
    await content().getByText('Run scripts/total.sh FILE COLUMN.').waitFor();
    expect(await content().innerText()).not.toContain('Newer.');
    await files().getByRole('link', { name: 'scripts/total.sh' }).click();
    await content().getByText('<img src=x onerror=alert(1)>').waitFor();
    await browser.expectThisAccessibleInEveryLook('a file of a skill');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download version 1' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('csv-totals-1.zip');
  });

  it('who uses it is named, and it is deleted once no run needs it', async () => {
    const skills = [{ name: 'csv-totals', version: 1 }];
    const definition = { model: 'demo/plain', skills: [{ name: 'csv-totals' }] };
    await client.json('PUT', '/agents/by-name/accountant', { definition });
    const asking = [{ calls: [call('ask', { text: 'Which column?' })] }, { text: 'Done.' }];
    const run = await client.createRun({ ...scriptInput('Add up.', asking), skills });
    await client.waitForRun(run.id);
    await page.getByRole('link', { name: 'accountant' }).waitFor();
    await page.getByText('an agent, the newest version').waitFor();
    await page.getByRole('link', { name: run.id }).waitFor();
    await browser.expectThisAccessibleInEveryLook('a skill that is used');

    const remove = async () => {
      await page.getByRole('button', { name: 'Delete this skill' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    };
    await remove();
    await page.getByRole('alert').getByText('A run that is not finished names this skill.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await client.json('POST', `/runs/${run.id}/stop`, {});
    await client.waitForRun(run.id);
    await remove();
    await page.getByText('No skills yet.').waitFor();
  });
});
