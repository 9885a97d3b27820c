import { type RondoClient, command, scripted } from '@rondo/test-deployment';
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
    await browser.open('/console/threads');
    await page.getByText('No threads yet.').waitFor();
    await page.getByRole('link', { name: 'New thread' }).click();
    await page
      .getByLabel('Files to attach')
      .setInputFiles({ name: 'numbers.txt', mimeType: 'text/plain', buffer: Buffer.from('seventeen') });
    await page.getByRole('list', { name: 'Files of this message' }).getByText('9 B').waitFor();
    const { model, input } = scripted('Read the file.', [
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
    const { model, input } = scripted('Finish.', [{ calls: [says] }]);
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
    await page.getByText('A run waits for its turn').waitFor();
    await page.getByRole('article', { name: 'You' }).getByText('And then say hello.').waitFor();
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

    await page.getByRole('link', { name: 'All of this run' }).click();
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
    await client.settled(run.id);
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
    await browser.open('/console/threads');
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
    const path = `/console/threads/${data[1]?.id ?? ''}`;
    await browser.expectAccessibleInEveryLook(['/console/threads', '/console/threads/new', path]);
    await browser.open(path);
    const stop = page.getByRole('button', { name: 'Stop' });
    await page
      .getByText(/^(Running|Completed)$/)
      .first()
      .waitFor();
    if (await stop.isVisible()) await stop.click();
    await page.getByRole('button', { name: 'Delete this thread' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('What is a').waitFor();
    expect(await page.getByRole('list', { name: 'Threads' }).getByRole('listitem').count()).toBe(1);
  });
});
