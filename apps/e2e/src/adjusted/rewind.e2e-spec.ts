import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Message, Run } from '@rondo/contract';
import { type RondoClient, type RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';
import { type ConsoleBrowser, openConsole, stopBrowser } from '../console-browser';
import { expectWholeLog } from '../log-expectations';
import { startAdjusted, newAccount } from '../shared-deployment';

const execute = promisify(execFile);

interface Preview {
  readonly seq: number;
  readonly files: Record<'created' | 'changed' | 'removed', { count: number; paths: string[] }>;
  readonly effects: { name: string; effect_class: string }[];
}

describe('files as they were then', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    rondo = await startAdjusted();
    ({ client, browser, page } = await openConsole(rondo, await newAccount(rondo)));
  });
  afterAll(async () => {
    await stopBrowser(browser);
  });

  const environment = () => ({ PATH: process.env['PATH'], RONDO_URL: client.url, RONDO_API_KEY: client.key });
  const preview = (id: string, query = '') => client.json<Preview>('GET', `/runs/${id}/rewind-preview${query}`);
  const ends = async (id: string) => (await client.facts(id)).filter(({ type }) => type === 'iteration.completed');

  /** Writes one, then two; and says what it has. */
  async function origin(about: string) {
    const { id } = await client.createRun(
      scriptInput(about, [
        {
          calls: [command('mkdir -p src; echo one > src/file; ln -s file src/link; chmod 750 src/file; cat src/file')],
        },
        { calls: [command('echo two > src/file; touch new; rm src/link; ls')] },
        { calls: [command('cat src/link; stat -c %a src/file; ls')] },
        { text: 'Done.' },
      ]),
    );
    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
    return client.run(id);
  }

  it('a fork has the files of its point, through kill -9 of its worker, and its origin keeps its own', async () => {
    const run = await origin('forked with files');
    const [first] = await ends(run.id);
    await expect(preview(run.id, `?at_seq=${first?.seq}`)).resolves.toMatchObject({
      seq: first?.seq,
      files: { created: { paths: ['src/link'] }, changed: { paths: ['src/file'] }, removed: { paths: ['new'] } },
      effects: [
        { name: 'execute_command', effect_class: 'unsafe' },
        { name: 'execute_command', effect_class: 'unsafe' },
      ],
    });

    const fork = await client.json<Run>('POST', `/runs/${run.id}/fork`, { at_seq: first?.seq, workspace: 'as_then' });
    await rondo.services.get('agent-worker').kill();

    expect(await client.waitForRun(fork.id)).toMatchObject({ status: 'completed' });
    const facts = await client.facts(fork.id);
    expectWholeLog(facts);
    expect(facts.filter(({ type }) => type.startsWith('workspace.')).map(({ type }) => type)).toEqual([
      'workspace.rewinding',
      'workspace.rewound',
    ]);
    const outputs = await client.toolOutputs(fork.id);
    expect(outputs.at(-2)).toBe('new\nsrc\n'); // the second command found the file of the first, and ran again
    await expect(preview(run.id, `?at_seq=${(await ends(run.id)).at(2)?.seq}`)).resolves.toMatchObject({
      files: { created: { count: 0 }, changed: { count: 0 }, removed: { count: 0 } },
    });
  });

  it('an edit has the files from before its question, and leaves them where it does not ask', async () => {
    const edit = async (run: { id: string; thread_id: string }, more: object) => {
      const asked = scriptInput('edited', [{ calls: [command('find . | sort')] }, { text: 'Done.' }]);
      const { data } = await client.json<{ data: Message[] }>('GET', `/threads/${run.thread_id}/messages`);
      const question = data.find(({ type, is_llm_message }) => type === 'user' && is_llm_message);
      await expect(preview(run.id, `?message_id=${question?.id}`)).resolves.toMatchObject({
        files: { created: { count: 0 }, removed: { count: 3 } },
      });
      const { id } = await client.createRun({
        ...{ ...asked, thread_id: run.thread_id, edit_message_id: question?.id, ...more },
      });
      await client.waitForRun(id);
      expect(await client.run(id)).toMatchObject({ status: 'completed', error: null });
      return client.toolOutputs(id);
    };

    expect(await edit(await origin('to be edited'), {})).toEqual(['.\n./new\n./src\n./src/file\n']);
    expect(await edit(await origin('to be taken back'), { workspace: 'as_then' })).toEqual(['.\n']);
  });

  it('a run is tried again with the files from before it', async () => {
    const run = await origin('tried again');
    const again = await client.json<Run>('POST', `/runs/${run.id}/retry`, { workspace: 'as_then' });
    expect(await client.waitForRun(again.id)).toMatchObject({ status: 'completed' });

    expectWholeLog(await client.facts(again.id));
    expect(await client.toolOutputs(again.id)).toEqual(await client.toolOutputs(run.id));
  });

  it('the console asks which files a question has that is asked again or edited', async () => {
    const run = await origin('in the console');
    const returned = async () => {
      const { data } = await client.json<{ data: Run[] }>('GET', `/runs?thread_id=${run.thread_id}&limit=1`);
      const [newest] = data;
      if (!newest) throw new Error('the thread has no run');
      await client.waitForRun(newest.id);
      return (await client.facts(newest.id)).filter(({ type }) => type === 'workspace.rewound').length;
    };
    await browser.open(`/console/threads/${run.thread_id}`);
    await page.getByRole('button', { name: 'Ask again' }).click();
    const dialog = page.getByRole('dialog', { name: 'Ask again' });
    await dialog.getByLabel('Files of its workspace').selectOption('as_then');
    await dialog.getByText('0 become what they were, 0 come back, 3 are deleted.').waitFor();
    await dialog.getByText('What these later calls did elsewhere stays: execute_command (3 calls).').waitFor();
    await browser.expectAccessible('a question that is asked again');
    await dialog.getByRole('button', { name: 'Ask again', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await returned()).toBe(1);

    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Files of its workspace').selectOption('as_then');
    await page.getByText('3 are deleted.').waitFor();
    await browser.expectAccessible('a question that is edited, with files');
    await page.getByLabel('Model', { exact: true }).fill('demo/plain');
    await page.getByRole('textbox', { name: 'Message' }).fill('Rather this.');
    await page.keyboard.press('Enter');
    await page.getByText('You said: Rather this.').waitFor();
    expect(await returned()).toBe(1);
  });

  it('the page of a run asks its question again, with the files from before it', async () => {
    const run = await origin('on its page');
    await browser.open(`/console/runs/${run.id}`);
    await page.getByRole('button', { name: 'Ask again' }).click();
    const dialog = page.getByRole('dialog', { name: 'Ask again' });
    await dialog.getByLabel('Files of its workspace').selectOption('as_then');
    await dialog.getByText('3 are deleted.').waitFor();
    await browser.expectAccessible('a run whose question is asked again');
    await dialog.getByLabel('Model').fill('demo/plain');
    await dialog.getByRole('button', { name: 'Ask again', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });

    await page.waitForURL((url) => !url.pathname.endsWith(run.id));
    const again = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    expect(await client.waitForRun(again)).toMatchObject({ status: 'completed', model: 'demo/plain' });
    expect((await client.facts(again)).map(({ type }) => type)).toContain('workspace.rewound');
  });

  it('what the states take is among the quotas of the account', async () => {
    await origin('counted');
    const { quotas } = await client.json<{ quotas: Record<string, { used: number; limit: number }> }>(
      'GET',
      '/balance',
    );
    expect(quotas['rewind_bytes']).toEqual({ used: expect.any(Number), limit: 4 * 256 * 1024 ** 2 });
    expect(quotas['rewind_bytes']?.used).toBeGreaterThan(0);
  });

  it('is refused by name where nothing was kept', async () => {
    const { id, thread_id } = await client.createRun({ model: 'demo/plain', input: 'Go.' });
    await client.waitForRun(id);
    const [end] = await ends(id);

    const fork = await client.request('POST', `/runs/${id}/fork`, {
      ...{ at_seq: end?.seq, workspace: 'as_then', input: 'Again.' },
    });
    expect(fork.status).toBe(409);
    expect(fork.text).toContain('files_not_kept');
    const run = await client.request('POST', `/runs`, { thread_id, input: 'Again.', workspace: 'as_then' });
    expect(run.status).toBe(422);
    expect(run.text).toContain('only an edit brings files back');
  });

  it('the program of the documentation does what its comments say', async () => {
    const document = readFileSync(join(repoRoot, 'docs/rewind.md'), 'utf8');
    const [, program = ''] = /```js\n(.*?)```/s.exec(document) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'rondo-rewind-'));
    writeFileSync(join(folder, 'rewind.mjs'), program);

    const { stdout } = await execute(process.execPath, ['rewind.mjs'], { cwd: folder, env: environment() });

    const [, printed = ''] = /```text\n(.*?)```/s.exec(document) ?? [];
    expect(stdout).toBe(printed);
    rmSync(folder, { recursive: true });
  });

  it('is used by the command line', async () => {
    const run = await origin('by the command line');
    const [first] = await ends(run.id);
    const cli = join(repoRoot, 'apps/cli/bin/rondo.mjs');
    const use = async (...words: string[]) =>
      (await execute(process.execPath, [cli, ...words], { env: environment() })).stdout;

    expect(await use('rewind-preview', run.id, '--at', `${first?.seq}`)).toContain('src/link');
    expect(await use('fork', run.id, '--at', `${first?.seq}`, '--files', 'as_then')).toContain('Done.');
    expect(await use('retry', run.id, '--files', 'as_then')).toContain('Done.');
  });
});
