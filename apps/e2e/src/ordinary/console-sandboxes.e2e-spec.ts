import { readFileSync } from 'node:fs';
import { type RondoClient, command, scriptInput } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { ordinaryConsole } from '../shared-deployment';

const hostile = '<script>document.title="owned"</script><img src=x onerror=alert(1)>';

describe('sandboxes and their files in the console', () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;
  let thread: string;

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
  });

  afterAll(async () => {
    await stopBrowser(browser);
  });

  /** What a command of a run prints in the same sandbox. */
  async function readOutput(line: string): Promise<string> {
    const turns = [{ calls: [command(line)] }, { text: 'Done.' }];
    const run = await client.createRun({ ...(thread && { thread_id: thread }), ...scriptInput(line, turns) });
    thread = run.thread_id;
    await client.waitForRun(run.id);
    return (await client.toolOutputs(run.id)).join('');
  }
  const choose = (name: string) => page.getByRole('region', { name: 'Files' }).getByRole('link', { name, exact: true });
  const shown = () => page.getByLabel('Content', { exact: true });

  it('a run leads to its workspace, whose files are shown as text', async () => {
    await readOutput(`mkdir -p src && echo '${hostile}' > src/page.html && printf 'one\\ntwo\\n' > list.txt`);
    const { data } = await client.json<{ data: { id: string }[] }>('GET', '/runs?limit=1');
    await browser.open(`/console/runs/${data[0]?.id ?? ''}`);
    const aside = page.getByRole('complementary', { name: 'About this run' });
    await aside.getByRole('link', { name: 'list.txt' }).waitFor();
    await page.getByRole('button', { name: 'Open the workspace' }).click();
    await page.getByRole('region', { name: 'Files' }).getByRole('button', { name: 'src/' }).click();
    await choose('page.html').click();
    await shown().getByText(hostile).waitFor();
    expect(await page.title()).toMatch(/Rondo$/);
  });

  it('a text is edited, and the next command finds it so', async () => {
    await choose('list.txt').click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('textbox', { name: 'Content of list.txt' }).fill('one\nthree\n');
    const changes = page.getByRole('region', { name: 'What a save changes' });
    await changes.getByText('− two').waitFor();
    await changes.getByText('+ three').waitFor();
    await browser.expectAccessible('a file that is edited');
    await page.getByRole('button', { name: 'Save' }).click();
    await shown().getByText('three').waitFor();
    expect(await readOutput('cat list.txt')).toContain('three');
  });

  it('files are uploaded, shown, downloaded and deleted', async () => {
    const picture = await sharp({ create: { width: 40, height: 20, channels: 3, background: 'teal' } })
      .png()
      .toBuffer();
    await page.getByLabel('Files to upload').setInputFiles([
      { name: 'teal.png', mimeType: 'image/png', buffer: picture },
      { name: 'bytes.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 1, 2]) },
    ]);
    await page.getByText('2 files were uploaded.').waitFor();
    await choose('teal.png').click();
    const image = page.getByRole('img', { name: 'The file teal.png' });
    await image.waitFor();
    const width = `{ const image = document.querySelector('.file img'); image.decode().then(() => image.naturalWidth); }`;
    expect(await page.evaluate(width)).toBe(40);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(readFileSync(await download.path()).equals(picture)).toBe(true);

    await choose('bytes.bin').click();
    await page.getByText('It is neither text nor a picture. Download it to open it.').waitFor();
    await page.getByRole('button', { name: 'Delete bytes.bin' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await choose('bytes.bin').waitFor({ state: 'detached' });
    expect(await readOutput('ls')).not.toContain('bytes.bin');
  });

  it('says which of several files was refused, and shows those before it', async () => {
    const problem = { title: 'Payload Too Large', status: 413, code: 'payload_too_large', detail: 'It is too long.' };
    await page.route(/second\.txt/, (route) => route.fulfill({ status: 413, json: problem }));
    const files = ['first.txt', 'second.txt'].map((name) => ({
      name,
      mimeType: 'text/plain',
      buffer: Buffer.from('x'),
    }));
    await page.getByLabel('Files to upload').setInputFiles(files);
    await page.getByText(/^second\.txt: /).waitFor();
    await choose('first.txt').waitFor();
    await page.unroute(/second\.txt/);
  });

  it('a new file is made, also in a new directory', async () => {
    await page.getByText('New file', { exact: true }).click();
    await page.getByLabel('Path in the workspace').fill('notes/todo.md');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('The file is empty.').waitFor();
    expect(await readOutput('ls notes')).toContain('todo.md');
  });

  it('shows what runs in it, and leads to the run', async () => {
    const here = page.getByRole('region', { name: 'What runs in it' });
    await here.getByText(/^No run\./).waitFor();
    const turns = [{ calls: [command('sleep 60')] }, { text: 'Done.' }];
    const run = await client.createRun({ thread_id: thread, ...scriptInput('Wait a minute.', turns) });
    await here.getByText('Runs execute_command').waitFor();
    await here.getByText('Running', { exact: true }).waitFor();
    expect(await here.getByRole('link').getAttribute('href')).toBe(`/console/runs/${run.id}`);
    await browser.expectThisAccessibleInEveryLook('a sandbox at work');
    await client.json('POST', `/runs/${run.id}/stop`, {});
    await here.getByText(/^No run\./).waitFor();
  });

  it('has a terminal, which colours, remembers, goes on where it was, and stops', async () => {
    await page.getByRole('button', { name: 'Terminal', exact: true }).click();
    const terminal = page.getByRole('region', { name: 'Terminal' });
    const line = terminal.getByRole('textbox', { name: 'Command' });
    const screen = terminal.getByRole('log', { name: 'What was printed' });
    const enter = async (text: string) => {
      await line.fill(text);
      await line.press('Enter');
    };
    await enter(`cd notes; printf '\\033[31mred\\033[0m and ${hostile}\\n' > seen.txt; cat seen.txt; (exit 3)`);
    await screen.locator('.ansi-ink').getByText('red').waitFor();
    await screen.getByText('exit code 3').waitFor();

    await enter('ls');
    await screen.getByText('todo.md').waitFor();
    await line.press('ArrowUp');
    await line.press('ArrowUp');
    expect(await line.inputValue()).toMatch(/^cd notes/);
    expect(await readOutput('cat notes/seen.txt')).toContain('red');

    await enter('sleep 600');
    await terminal.getByText('Running …').waitFor();
    await browser.expectThisAccessibleInEveryLook('a terminal in which something runs');
    await line.press('Control+c');
    await screen.getByText('^C').waitFor();
    await enter('while pgrep -x sleep > /dev/null; do :; done; echo all is quiet');
    await screen.getByText('echo all is quiet all is quiet').waitFor();
    expect((await client.json<{ data: object[] }>('GET', '/audit?action=sandbox.command')).data).toHaveLength(4);
  });

  it('is put to sleep, and wakes', async () => {
    await page.getByRole('button', { name: 'Put to sleep' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Put to sleep' }).click();
    await page.getByText('Asleep', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Wake' }).click();
    await page.getByText('Awake', { exact: true }).waitFor();
  });

  it('has no fault that axe finds', async () => {
    const { pathname } = new URL(page.url());
    const paths = ['/console/sandboxes', pathname, `${pathname}?path=list.txt`];
    await browser.expectAccessibleInEveryLook(paths);
  });
});
