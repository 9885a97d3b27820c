import { type RondoClient, call, command, scriptInput } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { ordinaryConsole } from '../shared-deployment';

const page1 = '<!doctype html>\n<title>Garden</title>\n<h1>Garden</h1>\n';
const plan = (mark: string) => `- [x] Write the page\n- [${mark}] Look at it\n`;

describe('a chat with a computer beside it', () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;
  let threadId: string;

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
    const run = await client.createRun(
      scriptInput('Make a page about a garden.', [
        { calls: [call('create_file', { file_path: 'todo.md', file_contents: plan(' ') })] },
        { calls: [call('create_file', { file_path: 'index.html', file_contents: page1 })] },
        { calls: [command('printf "%s\\n" blooming; exit 3')] },
        { calls: [call('str_replace', { file_path: 'index.html', old_str: '<h1>Garden', new_str: '<h1>A garden' })] },
        { text: 'Now I look at it.', calls: [call('browser_navigate_to', { url: 'file:///workspace/index.html' })] },
        { calls: [call('read_file', { file_path: 'nothing.txt' })] },
        { calls: [call('full_file_rewrite', { file_path: 'todo.md', file_contents: plan('x') })] },
        {
          calls: [
            call('complete', {
              text: 'The page is **there**.',
              attachments: ['index.html'],
              follow_up_prompts: ['Say hello.'],
            }),
          ],
        },
      ]),
    );
    await client.waitForRun(run.id);
    threadId = run.thread_id;
  });

  afterAll(async () => {
    await stopBrowser(browser);
  });

  const conversation = () => page.getByRole('log', { name: 'Conversation' });
  const computer = () => page.getByRole('complementary', { name: 'Computer' });
  const open = async () => {
    await browser.open(`/console/threads/${threadId}`);
    await conversation().getByText('The page is there.').waitFor();
  };
  const openGroup = async () => {
    await conversation().press('Home');
    await conversation()
      .getByRole('button', { name: /^2 files written/ })
      .click();
  };

  it('groups what went well, and keeps what failed in sight', async () => {
    await open();
    await openGroup();
    const steps = conversation().getByRole('list', { name: 'Steps' }).getByRole('button');
    await steps.first().waitFor();
    expect(await steps.allInnerTexts()).toEqual([
      expect.stringMatching(/^Wrote\s+todo\.md\s+[\d.]+ m?s/),
      expect.stringMatching(/^Wrote\s+index\.html\s+[\d.]+ m?s/),
      expect.stringMatching(/^Ran\s+printf.*\s+exit code 3\s+\d/),
      expect.stringMatching(/^Changed\s+index\.html\s+[\d.]+ m?s/),
    ]);
    await conversation().press('End');
    await conversation().getByRole('article', { name: 'read_file, failed' }).waitFor();
    await browser.expectAccessible('a conversation that is opened');
  });

  it('shows the newest action, or the one that was chosen, and goes through them', async () => {
    await open();
    await computer()
      .getByRole('heading', { name: /^Wrote todo\.md/ })
      .waitFor();
    await computer().getByText('Plan, 2 of 2').waitFor();

    await openGroup();
    await conversation()
      .getByRole('button', { name: /^Ran printf/ })
      .click();
    await computer().getByRole('group', { name: 'Terminal' }).getByText('blooming').waitFor();
    await computer().getByRole('button', { name: 'The step after' }).click();
    await computer().getByText('+ <h1>A garden</h1>').waitFor();
    await computer().getByText('− <h1>Garden</h1>').waitFor();
    await computer().getByRole('slider', { name: 'Step of the run' }).press('ArrowRight');
    await computer().getByRole('img', { name: 'Screenshot of Garden' }).waitFor();
    await browser.expectAccessible('the picture of the browser');
    await computer().getByRole('button', { name: 'Operate the browser' }).click();
    const dialog = page.getByRole('dialog', { name: "The agent's browser" });
    await dialog.getByRole('application').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();

    await computer().getByRole('button', { name: 'Follow' }).click();
    await computer()
      .getByRole('heading', { name: /^Wrote todo\.md/ })
      .waitFor();
    await computer().getByRole('button', { name: 'Play' }).click();
    await computer().getByText('1 of 7').waitFor();
    await computer().getByText('2 of 7').waitFor();
    await computer().getByRole('button', { name: 'Pause' }).click();
  });

  it('has a terminal of the person in the same sandbox, whose commands go on while something else is looked at', async () => {
    const made = [{ calls: [call('create_file', { file_path: 'a.html', file_contents: page1 })] }, { text: 'Made.' }];
    const { id, thread_id: own } = await client.createRun(scriptInput('Make another page.', made));
    await client.waitForRun(id);
    await browser.open(`/console/threads/${own}`);
    await computer().getByRole('button', { name: 'Terminal' }).click();
    const line = computer().getByRole('textbox', { name: 'Command' });
    await line.fill('head -2 a.html; until [ -e go ]; do sleep 0.1; done; echo went on');
    await line.press('Enter');
    await computer().getByText('<title>Garden</title>').waitFor();
    await browser.expectAccessible('a terminal beside a chat');

    await computer().getByRole('button', { name: 'Follow' }).click();
    const turns = [{ calls: [command('touch go')] }, { text: 'It is touched.' }];
    const run = await client.createRun({ thread_id: own, ...scriptInput('Go on.', turns) });
    await client.waitForRun(run.id);
    await computer().getByRole('button', { name: 'Terminal' }).click();

    await computer().getByText('</title> went on').waitFor();
    expect((await client.json<{ data: unknown[] }>('GET', `/runs?thread_id=${own}`)).data).toHaveLength(2);
  });

  it('opens a file that is attached to an answer, and it can be downloaded', async () => {
    await open();
    const files = conversation().getByRole('list', { name: 'Attached files' });
    await files.getByRole('button', { name: 'html index.html' }).or(files.getByTitle('index.html')).first().click();
    await computer().getByLabel('Content').getByText('<h1>A garden</h1>').waitFor();
    await browser.expectAccessible('a file that is attached');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      files.getByRole('button', { name: 'Download index.html' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('index.html');
  });

  it('is a sheet on a phone, in one column', async () => {
    await page.setViewportSize({ width: 390, height: 780 });
    await open();
    expect(await computer().count()).toBe(0);
    await openGroup();
    await conversation()
      .getByRole('button', { name: /^Ran printf/ })
      .click();
    const sheet = page.getByRole('dialog', { name: 'Computer' });
    await sheet.getByRole('group', { name: 'Terminal' }).getByText('blooming').waitFor();
    await browser.expectAccessible('the computer on a phone');
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('has no fault that axe finds, light and dark, on a wide screen and on a phone', async () => {
    await browser.expectAccessibleInEveryLook([`/console/threads/${threadId}`]);
  });

  it('is led by keys, which write nothing where something is written', async () => {
    await open();
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('k');
    await computer()
      .getByRole('heading', { name: /^Failed: reading nothing\.txt/ })
      .waitFor();
    await page.keyboard.press('j');
    await computer()
      .getByRole('heading', { name: /^Wrote todo\.md/ })
      .waitFor();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keys' });
    await help.getByText('Write a message, or search').waitFor();
    await browser.expectAccessible('the keys');
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('jk?/');
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('jk?/');
    await page.getByRole('textbox', { name: 'Message' }).fill('');

    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Go to' });
    await palette.getByRole('combobox').fill('run garden');
    await palette.getByRole('option', { name: /^Make a page about a garden\. Run/ }).waitFor();
    await browser.expectAccessible('the palette');
    await page.keyboard.press('Enter');
    await page.getByRole('log', { name: 'Timeline' }).waitFor();
  });

  it('is shared with a link, and read without a key until that ends', async () => {
    await open();
    await page.getByRole('button', { name: 'Share' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share this thread' });
    await dialog.getByRole('button', { name: 'Share with a link' }).click();
    const link = dialog.getByRole('link');
    await link.waitFor();
    await browser.expectAccessible('a thread that is shared');
    const address = (await link.getAttribute('href')) ?? '';

    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    await page.goto(address);
    await conversation().getByText('The page is there.').waitFor();
    await page.getByText('Completed', { exact: true }).waitFor();
    for (const name of [
      'Send',
      'Stop',
      'Edit',
      'Ask again',
      'Share',
      'Say hello.',
      'Download index.html',
      'Operate the browser',
    ])
      expect([name, await page.getByRole('button', { name }).count()]).toEqual([name, 0]);
    await openGroup();
    await conversation()
      .getByRole('button', { name: /^Ran printf/ })
      .click();
    await computer().getByRole('group', { name: 'Terminal' }).getByText('blooming').waitFor();
    await browser.expectAccessibleInEveryLook([new URL(address).pathname]);

    await page.context().addCookies(cookies);
    await open();
    await page.getByRole('button', { name: 'Shared' }).click();
    await page.getByRole('button', { name: 'Stop sharing' }).click();
    await page.getByRole('button', { name: 'Share with a link' }).waitFor();
    await page.goto(address);
    await page.getByRole('heading', { name: 'This conversation is not shared' }).waitFor();
  });

  it('is shared with a name of its own where nothing was said yet', async () => {
    const { id } = await client.json<{ id: string }>('POST', '/threads', {});
    await client.json('PATCH', `/threads/${id}`, { is_public: true });
    await browser.open(`/console/shared/${id}`);
    await page.getByRole('heading', { name: 'Shared conversation' }).waitFor();
    expect(await page.title()).toBe('Shared conversation · Rondo');
  });

  it('asks what the agent proposes', async () => {
    await open();
    const proposed = page.getByRole('group', { name: 'What to ask next' });
    await page.getByRole('button', { name: 'Edit' }).click();
    await proposed.waitFor({ state: 'detached' }); // it would be sent as the edited question
    await page.getByRole('button', { name: 'Leave it as it was' }).click();
    await proposed.getByRole('button', { name: 'Say hello.' }).click();
    await conversation().getByRole('article', { name: 'You' }).getByText('Say hello.', { exact: true }).waitFor();
    await proposed.waitFor({ state: 'detached' });
  });

  it('is shared also with a browser that keeps nothing for pages', async () => {
    await client.json('PATCH', `/threads/${threadId}`, { is_public: true });
    await page.addInitScript('Object.defineProperty(window, "localStorage", { get() { throw new DOMException(); } })');
    await browser.open(`/console/shared/${threadId}`);
    await conversation().getByText('The page is there.').waitFor();
  });
});
