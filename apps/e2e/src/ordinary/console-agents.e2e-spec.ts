import { type RondoClient, command, scriptInput } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { ordinaryConsole } from '../shared-deployment';

interface Definition {
  readonly name: string;
  readonly system_prompt?: string;
}

describe('agents in the console', () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
  });

  afterAll(async () => {
    await stopBrowser(browser);
  });

  const stored = async () => {
    const { data } = await client.json<{ data: { id: string; version: number; definition: Definition }[] }>(
      'GET',
      '/agents',
    );
    return data;
  };

  it('an agent is tried before it is stored, and then created', async () => {
    await browser.open('/console/agents');
    await page.getByText('No agents yet.').waitFor();
    await page.getByRole('link', { name: 'New agent' }).click();
    await page.getByLabel('Name', { exact: true }).fill('release-notes');
    await page.getByLabel('Model').fill('demo/plain');
    await page.getByLabel('System prompt').fill('You write release notes.');
    await page.getByText('Tools', { exact: true }).click();
    await page.getByLabel('execute_command', { exact: true }).selectOption('approval');
    const run = page.getByRole('button', { name: 'Run what is written here' });
    await run.click();
    await page.getByRole('alert').getByText('Write what it is asked first.').waitFor();
    await page.getByLabel('What it is asked').fill('What is new?');
    await run.click();
    await page.getByText('You said: What is new?').waitFor();
    expect(await stored()).toEqual([]);

    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Version 1 of 1').waitFor();
    expect(await stored()).toMatchObject([
      { definition: { name: 'release-notes', tools: { execute_command: { require_approval: true } } } },
    ]);
  });

  it('a change, written as JSON, becomes a version; the form and the YAML show it too', async () => {
    await page.getByRole('button', { name: 'JSON' }).click();
    const field = page.getByLabel('The definition, as JSON');
    const definition = JSON.parse(await field.inputValue()) as Definition;
    await field.fill('{ "name": ');
    await page.getByRole('alert').getByText('This is not JSON').waitFor();
    await page.getByRole('button', { name: 'Run what is written here' }).click();
    await page.getByRole('alert').getByText('Correct it first').waitFor();
    await field.fill(JSON.stringify({ ...definition, system_prompt: 'You write short release notes.' }));
    await page.getByRole('button', { name: 'YAML' }).click();
    await page.getByLabel('The definition, as YAML').waitFor();
    expect(await page.getByLabel('The definition, as YAML').inputValue()).toContain('You write short release notes.');
    await page.getByLabel('Why it is changed').fill('They were too long.');
    await page.getByRole('button', { name: 'Save as version 2' }).click();
    await page.getByText('Version 2 of 2').waitFor();
    await page.getByText('They were too long.').waitFor();
    expect(await page.getByLabel('System prompt').inputValue()).toBe('You write short release notes.');
  });

  it('a definition that the gateway refuses is not saved, and the field is named', async () => {
    await page.getByLabel('Model').fill('nowhere/nothing');
    await page.getByRole('button', { name: 'Save as version 3' }).click();
    await page.getByRole('alert').getByText(/model/).waitFor();
    expect(await stored()).toMatchObject([{ version: 2 }]);
  });

  it('a definition of other kinds of values than the form has stays as it is written, and is corrected there', async () => {
    await browser.open('/console/agents/new');
    await page.getByRole('button', { name: 'JSON' }).click();
    const field = page.getByLabel('The definition, as JSON');
    await field.fill('{ "directives": "Be kind." }');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').getByText('name').waitFor();
    await page.getByRole('button', { name: 'Form' }).click();
    await page.getByRole('alert').getByText('The form cannot show what the text says').waitFor();

    await page.getByRole('button', { name: 'JSON' }).click();
    expect(await field.inputValue()).toContain('Be kind.');
    await field.fill('{ "name": "", "directives": ["Be kind."] }');
    await page.getByRole('button', { name: 'Form' }).click();
    expect(await page.getByLabel('Directives').inputValue()).toBe('Be kind.');
    await page.goBack();
  });

  it('shows how two versions differ, and goes back to one', async () => {
    await page.reload();
    await page.getByRole('button', { name: 'Compare with the active one' }).click();
    await page.getByText('/system_prompt').waitFor();
    await browser.expectAccessible('two versions');
    await page.getByRole('button', { name: 'Activate version 1' }).click();
    await page.getByText('Version 1 of 2').waitFor();
    expect(await stored()).toMatchObject([{ version: 1, definition: { system_prompt: 'You write release notes.' } }]);
  });

  it('changes the note of a version, without another version', async () => {
    await page.getByRole('button', { name: 'Add a note to version 1' }).click();
    await page.getByLabel('Note', { exact: true }).fill('The first one.');
    await page.getByRole('button', { name: 'Save the note' }).click();
    await page.getByText('The first one.').waitFor();
    await page.getByText('Version 1 of 2').waitFor();
  });

  it('is tagged, and found by a tag', async () => {
    await client.json('POST', '/agents', { definition: { name: 'zebra' } });
    await page.getByRole('button', { name: 'Add tags' }).click();
    await page.getByLabel('Tags', { exact: true }).last().fill('Releases, writing');
    await page.getByRole('button', { name: 'Save the tags' }).click();
    await page.getByRole('link', { name: 'releases' }).click();
    const titles = page.getByRole('list', { name: 'Agents' }).locator('.run-title');
    await titles.getByText('releases', { exact: true }).waitFor();
    expect(await titles.allTextContents()).toEqual([expect.stringMatching(/^release-notes releases writing/)]);

    await page.getByLabel('Tag', { exact: true }).selectOption('');
    await titles.first().getByText('zebra').waitFor();
    await page.getByLabel('Order').selectOption('name');
    await titles.first().getByText('releases', { exact: true }).waitFor();
    await titles.last().getByText('zebra').waitFor();
    await page.getByRole('link', { name: /^release-notes/ }).click();
    await page.getByText('Version 1 of 2').waitFor();
  });

  it('shows what starts its runs, and when next', async () => {
    const found = (await stored()).find(({ definition }) => definition.name === 'release-notes');
    const run = { input: 'Write.', agent_id: found?.id };
    await client.json('POST', '/schedules', { name: 'every morning', cron: '0 9 * * *', run });
    await client.json('POST', '/schedules', { name: 'at rest', cron: '0 9 * * *', is_paused: true, run });
    await page.reload();
    const part = page.getByRole('region', { name: 'What starts its runs' });
    await part.getByRole('link', { name: 'every morning' }).waitFor();
    await part.getByText('paused').waitFor();
    const upcoming = part.getByRole('list', { name: 'Upcoming runs' }).getByRole('listitem');
    expect(await upcoming.count()).toBe(5);
    expect((await upcoming.allTextContents()).filter((text) => text.includes('at rest'))).toEqual([]);
    await browser.expectAccessible('an agent with schedules');
  });

  it('runs a change and the active version with the same words, side by side', async () => {
    await page.getByLabel('Directives').fill('Be kind.');
    await page.getByLabel('What it is asked').fill('Compare us.');
    await page.getByRole('button', { name: 'Run it and the active version, side by side' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click(); // the change is not stored
    await page.getByRole('heading', { name: 'Two runs side by side' }).waitFor();
    const first = page.getByRole('region', { name: 'Iteration 1', exact: true });
    await first.getByText('You said: Compare us.').nth(1).waitFor();
    await first.getByText('the same').waitFor();
  });

  it('compares two runs iteration by iteration, and says where their calls differ', async () => {
    const ends = { text: 'Done.' };
    const [a, b] = await Promise.all(
      ['echo one', 'echo two'].map((line) =>
        client.createRun(scriptInput('Do it.', [{ calls: [command(line)] }, ends])),
      ),
    );
    await Promise.all([a, b].map((run) => client.waitForRun(run?.id ?? '')));
    await browser.open(`/console/runs/${a?.id ?? ''}`);
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.locator(`a[href*="b=${b?.id ?? ''}"]`).click();
    await page.getByRole('columnheader').getByRole('link', { name: 'Do it.' }).nth(1).waitFor();
    const first = page.getByRole('region', { name: 'Iteration 1', exact: true });
    await first.getByText('other calls').waitFor();
    await first.getByLabel('Output').getByText('two').waitFor();
    await page.getByRole('region', { name: 'Iteration 2' }).getByText('the same').waitFor();
  });

  it('marks the words that differ between two runs, or shows both as in their runs', async () => {
    const answers = ['The shed is **red**.\n\nIt has a roof.', 'The shed is **blue**.\n\nIt has a roof.'];
    const [a, b] = await Promise.all(answers.map((text) => client.createRun(scriptInput('Which colour?', [{ text }]))));
    await Promise.all([a, b].map((run) => client.waitForRun(run?.id ?? '')));
    await browser.open(`/console/compare?a=${a?.id ?? ''}&b=${b?.id ?? ''}`);
    const first = page.getByRole('region', { name: 'Iteration 1', exact: true });
    await first.getByText('other words').waitFor();
    await page.getByRole('row', { name: 'Agent none none' }).waitFor();
    const marks = first.locator('mark');
    expect(await marks.allTextContents()).toEqual(['red', 'blue']);

    await page.getByLabel('Mark the words that differ').uncheck();
    await first.locator('strong', { hasText: 'blue' }).waitFor();
    expect(await marks.count()).toBe(0);
    await page.getByLabel('Mark the words that differ').check();
  });

  it('an environment is part of the form, and what sandboxes here cannot do is refused by its field', async () => {
    await browser.open('/console/agents/new');
    const create = page.getByRole('button', { name: 'Create' });
    await page.getByLabel('Name', { exact: true }).fill('site-maintainer');
    await page.getByText('Environment', { exact: true }).click();
    await page.getByLabel('Repository', { exact: true }).fill('https://example.com/you/site.git');
    await page.getByRole('button', { name: 'Add a file to the workspace' }).click();
    await page.getByLabel('Its path').fill('notes/style.md');
    await page.getByLabel('Its text').fill('Short sentences.');
    const packages = page.getByLabel('Packages of npm');
    await packages.fill('semver@7.6.3');
    await create.click();
    await page.locator('.field', { hasText: 'Packages of npm' }).getByRole('alert').waitFor();
    expect(await page.locator('.editor-end .problem').count()).toBe(0);
    await packages.fill('');
    await packages.blur();
    await page.getByLabel('Hosts that the sandbox reaches').selectOption('listed');
    await create.click();
    await page.getByRole('alert').getByText('must name example.com').waitFor();
    await page.getByLabel('Hosts', { exact: true }).fill('example.com');
    await browser.expectAccessible('the environment of an agent');
    await create.click();
    await page.getByText('Version 1 of 1').waitFor();

    const url = 'https://example.com/you/site.git';
    const file = { path: 'notes/style.md', content: 'Short sentences.' };
    expect(await stored()).toContainEqual(
      expect.objectContaining({
        definition: {
          name: 'site-maintainer',
          environment: { repository: { url }, files: [file], egress: ['example.com'] },
        },
      }),
    );
    const said = `the repository ${url}, 1 file, its network reaches example.com`;
    await page.getByText(`Environment: ${said}`).waitFor();
    await browser.open('/console/agents');
    await page.getByText(said).waitFor();
  });

  it('settings of the account are stored, and refused with the field that is wrong', async () => {
    await browser.open('/console/agents/settings');
    const field = page.getByLabel('Iterations of a run, at most');
    await field.fill('0');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('This must be at least 1.').waitFor();

    await page.getByRole('button', { name: 'JSON' }).click();
    await page
      .getByLabel('The definition, as JSON')
      .fill(JSON.stringify({ limits: { max_iterations: 77, max_malformed_calls: 3 } }));
    await page.getByRole('button', { name: 'Form' }).click();
    expect(await field.inputValue()).toBe('77');
    await page.getByText('limits, max malformed calls').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Changed', { exact: false }).waitFor();
    expect(await client.json('GET', '/settings')).toMatchObject({ settings: { limits: { max_iterations: 77 } } });
    await client.json('PUT', '/settings', { settings: {} });
  });

  it('has no fault that axe finds', async () => {
    const agent = (await stored()).find(({ definition }) => definition.name === 'release-notes');
    const path = `/console/agents/${agent?.id ?? ''}`;
    const { pathname, search } = new URL(page.url());
    await browser.expectAccessibleInEveryLook([
      '/console/agents',
      '/console/agents/new',
      '/console/agents/settings',
      path,
      pathname + search,
      '/console/compare',
    ]);
  });

  it('keeps a draft when someone else stores another version, and stores it when that was seen', async () => {
    const { id } = await client.json<{ id: string }>('POST', '/agents', { definition: { name: 'of-two' } });
    await browser.open(`/console/agents/${id}`);
    const prompt = page.getByLabel('System prompt');
    await prompt.fill('Mine.');
    await client.json('PATCH', `/agents/${id}`, { definition: { name: 'of-two', system_prompt: 'Theirs.' } });
    await page.getByRole('button', { name: 'Save as version 2' }).click();
    await page.getByRole('alert').getByText('Something else was stored meanwhile').waitFor();
    expect(await prompt.inputValue()).toBe('Mine.');
    await browser.expectAccessible('a draft that is behind');
    await page.getByRole('button', { name: 'Keep what is written here' }).click();
    await page.getByRole('button', { name: 'Save as version 3' }).click();
    await page.getByText('Version 3 of 3').waitFor();
    expect(await client.json('GET', `/agents/${id}`)).toMatchObject({ definition: { system_prompt: 'Mine.' } });
  });

  it('is not changed by who only looks at its fields', async () => {
    const definition = { name: 'of-lines', directives: ['Write:\n- short', 'Be kind.'] };
    const { id } = await client.json<{ id: string }>('POST', '/agents', { definition });
    await browser.open(`/console/agents/${id}`);
    await page.getByLabel('Directives').focus();
    await page.keyboard.press('Tab');
    expect(await page.getByRole('button', { name: 'Save as version 2' }).isDisabled()).toBe(true);
  });

  it('settings that someone else has stored meanwhile are shown, and not overwritten unseen', async () => {
    await browser.open('/console/agents/settings');
    const field = page.getByLabel('Iterations of a run, at most');
    await field.fill('5');
    await client.json('PUT', '/settings', { settings: { budget: { tokens: 9_000 } } });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('Something else was stored meanwhile').waitFor();
    expect(await client.json('GET', '/settings')).toMatchObject({ settings: { budget: { tokens: 9_000 } } });
    await page.getByRole('button', { name: 'Show what was stored' }).click();
    expect(await page.getByLabel('Budget of a run, in tokens').inputValue()).toBe('9000');
    expect(await field.inputValue()).toBe('');
    await client.json('PUT', '/settings', { settings: {} });
  });

  it('an agent beyond the first hundred stays chosen, and is found by its name', async () => {
    const [oldest] = (await stored()).slice(-1);
    for (let number = 1; number <= 101; number += 1) {
      await client.json('POST', '/agents', { definition: { name: `helper ${number}` } });
    }
    const run = { input: 'Go.', agent_id: oldest?.id };
    const schedule = { name: 'yearly', cron: '0 0 1 1 *', run };
    const { id } = await client.json<{ id: string }>('POST', '/schedules', schedule);
    await browser.open(`/console/schedules/${id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    const field = page.getByLabel('Agent', { exact: true });
    await field.getByRole('option', { name: oldest?.definition.name ?? '' }).waitFor({ state: 'attached' });
    await page.getByLabel('Name', { exact: true }).fill('each year');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'each year' }).waitFor();
    expect(await client.json('GET', `/schedules/${id}`)).toMatchObject({ name: 'each year', run });

    await browser.open('/console/runs/new');
    await page.getByLabel('Find an agent by its name').fill(oldest?.definition.name ?? '');
    await field.getByRole('option', { name: 'helper' }).first().waitFor({ state: 'detached' });
    await field.selectOption(oldest?.id ?? '');
    await browser.expectThisAccessibleInEveryLook('a choice of more agents than it offers');
  });
});
