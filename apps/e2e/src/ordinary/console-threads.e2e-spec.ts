import { type RondoClient, command, scriptInput } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { ordinaryConsole } from '../shared-deployment';

describe('threads in the console', () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
  });

  afterAll(async () => {
    await stopBrowser(browser);
  });

  const message = () => page.getByRole('textbox', { name: 'Message' });
  const say = async (text: string, model?: string) => {
    if (model !== undefined) await page.getByLabel('Model', { exact: true }).fill(model);
    await message().fill(text);
    await page.keyboard.press('Enter');
  };
  const conversation = () => page.getByRole('log', { name: 'Conversation' });

  it('a first message begins a thread, and the run gets the attached file', async () => {
    for (const empty of ['usage', 'sandboxes', 'compare']) {
      await browser.open(`/console/${empty}`);
      await page.getByRole('link', { name: 'Begin a thread' }).waitFor();
    }
    await browser.open('/console/threads');
    await page.getByText('No threads yet.').waitFor();
    await page.getByRole('link', { name: 'New thread' }).click();
    await page
      .getByLabel('Files to attach')
      .setInputFiles({ name: 'numbers.txt', mimeType: 'text/plain', buffer: Buffer.from('seventeen') });
    const starters = page.getByRole('group', { name: 'Ways to begin' });
    await starters.getByRole('button', { name: 'Write a small program and run it.' }).click();
    expect(await message().inputValue()).toBe('Write a small program and run it.');
    await page.getByRole('list', { name: 'Files of this message' }).getByText('9 B').waitFor();
    const { model, input } = scriptInput('Read the file.', [
      { calls: [command('cat numbers.txt')] },
      { text: 'It says a number.' },
    ]);
    await say(input, model);
    await page.waitForURL(/\/threads\/thr_/);
    await conversation().getByRole('button', { name: 'Ran cat numbers.txt' }).waitFor();
    const terminal = page.getByRole('complementary', { name: 'Computer' }).getByRole('group', { name: 'Terminal' });
    await terminal.getByText('seventeen').waitFor();
    await page.getByRole('article', { name: 'Agent' }).getByText('It says a number.').waitFor();
    await page.getByText('Completed').waitFor();
  });

  it('goes on with the same thread, shows the text while it is written, and keeps what was said before', async () => {
    await say('Tell me a story.', 'demo/long:tokens=4000');
    await conversation().getByText('The quick brown fox').first().waitFor();
    await page.getByText('Running', { exact: true }).waitFor();
    await page.getByText('The model writes its reply.').waitFor();
    await conversation().press('Home');
    await conversation().getByText('It says a number.', { exact: true }).waitFor();
  });

  it('stops the run, and shows the receipt', async () => {
    await page.getByRole('button', { name: 'Stop' }).click();
    const receipt = page.getByRole('region', { name: 'Receipt of the stop' });
    await receipt.getByText('Tokens after the stop').waitFor();
    await page.getByText('Stopped', { exact: true }).first().waitFor();
    await page.setViewportSize({ width: 390, height: 600 });
    await browser.expectAccessible('a receipt on a phone');
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('a question is answered with the next message', async () => {
    await say('Paint the shed.', 'demo/ask');
    await page.getByRole('textbox', { name: 'Your answer' }).fill('Blue.');
    await page.keyboard.press('Enter');
    await page.getByText('I go on with your answer: Blue.').waitFor();
    await page.getByText('Completed').waitFor();
  });

  it('what an agent says in a call is read like a message', async () => {
    const says = { name: 'complete', arguments: { text: 'It is **done**.', attachments: ['notes.md'] } };
    const { model, input } = scriptInput('Finish.', [{ calls: [says] }]);
    await say(input, model);
    const said = conversation().getByRole('article', { name: 'Agent' }).filter({ hasText: 'It is done.' });
    await said.locator('strong', { hasText: 'done' }).waitFor();
    await said.getByRole('list', { name: 'Attached files' }).getByText('notes.md').waitFor();
    expect(await conversation().getByText('The turn is over.').count()).toBe(0);
    await page.getByText('Completed', { exact: true }).waitFor();
  });

  it('while a run is active, a message can wait for the run after it', async () => {
    await say('Another story.', 'demo/long:tokens=300');
    await page.getByRole('combobox', { name: 'When it is read' }).selectOption('queue');
    await say('And then say hello.');
    const unread = page.getByRole('list', { name: 'Not read yet' });
    await unread.getByText('And then say hello.').waitFor();
    await unread.getByText('Begins after this run').waitFor();
    await page.getByRole('article', { name: 'You' }).getByText('And then say hello.').waitFor();
  });

  it('a message is told to the run at work, and is shown where the run has read it', async () => {
    const waits = command('until [ -e told ]; do sleep 0.1; done');
    const { model, input } = scriptInput('Paint a fence.', [{ calls: [waits] }, { text: 'The fence is blue.' }]);
    await browser.open('/console/threads/new');
    await say(input, model);
    await conversation().getByRole('button', { name: 'until' }).waitFor();
    const when = page.getByRole('combobox', { name: 'When it is read' });
    expect(await when.inputValue()).toBe('steer');
    await page.getByText('The agent reads it before its next step, and goes on.').waitFor();
    const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') };
    await page.getByLabel('Files to attach').setInputFiles(file);
    await page.getByText('A run at work gets no files. A new run begins').waitFor();
    expect(await when.inputValue()).toBe('queue');
    await page.getByRole('button', { name: 'Remove a.txt' }).click();
    await say('Make it blue.');
    const unread = page.getByRole('list', { name: 'Not read yet' });
    await unread.getByText('Make it blue.').waitFor();
    await unread.getByText('Read before the next step').waitFor();
    await browser.expectThisAccessibleInEveryLook('a message that is not read yet');

    await page.getByRole('complementary', { name: 'Computer' }).getByRole('button', { name: 'Terminal' }).click();
    await page.getByRole('textbox', { name: 'Command' }).fill('touch told');
    await page.keyboard.press('Enter');

    await conversation().getByText('The fence is blue.', { exact: true }).waitFor();
    const said = await conversation().getByRole('article').allInnerTexts();
    expect(said.slice(1)).toEqual([
      expect.stringContaining('Make it blue.'),
      expect.stringContaining('The fence is blue.'),
    ]);
    expect(await unread.count()).toBe(0);

    await browser.open('/console/runs');
    const row = page.getByRole('listitem').filter({ hasText: 'Make it blue.' });
    await row.getByText('Message read').waitFor();
    await row.getByRole('link', { name: 'Make it blue.' }).click();
    await page.getByRole('heading', { name: 'The run at work has read this message' }).waitFor();
    await browser.expectThisAccessibleInEveryLook('a run whose message was read');
    await page.getByRole('link', { name: 'The run that read it' }).click();
    await page.getByRole('article', { name: 'Agent' }).getByText('The fence is blue.').waitFor();
  });

  it('a message that is not read yet can be withdrawn', async () => {
    await browser.open('/console/threads/new');
    await say('A long story.', 'demo/long:tokens=4000');
    await page.getByText('Running', { exact: true }).waitFor();
    await say('Make it short.');
    await page.getByRole('list', { name: 'Not read yet' }).getByRole('button', { name: 'Withdraw' }).click();
    await page.getByRole('list', { name: 'Not read yet' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Ask again' }).click();
    const dialog = page.getByRole('dialog', { name: 'Ask again' });
    await dialog.getByText('The run that is at work on it is stopped.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped', { exact: true }).first().waitFor();
  });

  it('the newest question is asked anew, and shows what it said before', async () => {
    await browser.open('/console/threads/new');
    await say('What is a rondo?', 'demo/plain');
    await page.getByText('You said: What is a rondo?').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await message().inputValue()).toBe('What is a rondo?');
    await browser.expectAccessible('a question that is edited');
    await say('What is a fugue?');
    await page.getByText('You said: What is a fugue?').waitFor();
    expect(await conversation().getByText('You said: What is a rondo?').count()).toBe(0);
    await page.getByText('Edited: what it said before').click();
    await conversation().getByText('What is a rondo?', { exact: true }).waitFor();
    await browser.expectAccessible('a question that was edited');

    await page.getByRole('link', { name: 'Open this run' }).click();
    await page.getByRole('complementary', { name: 'About this run' }).waitFor(); // else the words of the thread's page close
    await page.getByText('Edited: what it said before').click();
    await page
      .getByRole('article', { name: 'You' })
      .getByRole('link', { name: /^run …/ })
      .click();
    await page.getByText('You said: What is a rondo?').waitFor();
  });

  it('the list has its titles from one request; threads are renamed, and found by words and by project', async () => {
    const project = await client.json<{ id: string }>('POST', '/projects', { name: 'Garden' });
    const task = { model: 'demo/plain', input: 'Water the roses.', project_id: project.id };
    const run = await client.createRun(task);
    await client.waitForRun(run.id);
    const asked: string[] = [];
    const note = (request: { url(): string }) => asked.push(new URL(request.url()).pathname);
    page.on('request', note);
    await browser.open('/console/threads');
    const rows = page.getByRole('list', { name: 'Threads' });
    await rows.getByRole('link', { name: 'Water the roses.' }).getByText('Garden').waitFor();
    expect(asked.filter((path) => path === '/v1/runs' || path.endsWith('/messages'))).toEqual([]);
    page.off('request', note);

    await page.getByRole('button', { name: 'Rename Water the roses.' }).click();
    await browser.expectThisAccessibleInEveryLook('the dialog to rename a thread');
    await page.getByRole('textbox', { name: 'Title' }).fill('Evening round');
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
    await rows.getByRole('link', { name: 'Evening round' }).waitFor();
    await page.getByRole('searchbox').fill('roses');
    await page.waitForURL(/text=roses/);
    await rows.getByRole('link', { name: 'fugue' }).waitFor({ state: 'detached' });
    await rows.getByRole('link', { name: 'Evening round' }).waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Threads' }).click();
    await rows.getByRole('link', { name: 'fugue' }).waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
    await page.getByLabel('Project').selectOption('Garden');
    await rows.getByRole('link', { name: 'fugue' }).waitFor({ state: 'detached' });
    expect(await rows.getByRole('listitem').count()).toBe(1);

    await rows.getByRole('link', { name: 'Evening round' }).click();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('Morning round');
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name: 'Morning round' }).waitFor();
    await client.request('DELETE', `/threads/${run.thread_id}`);
  });

  it('has no fault that axe finds, and a thread can be deleted', async () => {
    const { data } = await client.json<{ data: { id: string }[] }>('GET', '/threads');
    const path = `/console/threads/${data.at(-1)?.id ?? ''}`;
    const link = page.getByRole('list', { name: 'Threads' }).locator(`a[href$="${path}"]`);
    await browser.expectAccessibleInEveryLook(['/console/threads', '/console/threads/new', path]);
    await browser.open('/console/threads');
    await link.click();
    const stop = page.getByRole('button', { name: 'Stop' });
    await page
      .getByText(/^(Running|Completed)$/)
      .first()
      .waitFor();
    if (await stop.isVisible()) await stop.click();
    await page.getByRole('button', { name: 'Delete this thread' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('What is a').waitFor();
    await link.waitFor({ state: 'detached' });
  });
});
