import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Rondo } from '@rondo/client';
import { type RondoClient, type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { ConsoleBrowser, stopBrowser } from '../console-browser';
import { newAccount, ordinaryDeployment, pagePort } from '../shared-deployment';

const root = resolve(__dirname, '../../../..');
const program = join(root, 'apps/create-rondo-app/bin/create-rondo-app.mjs');
const run = promisify(execFile);

let rondo: RunningRondo;
let account: RondoClient;
let folder: string;
let packages: string;
let env: Record<string, string | undefined>;

beforeAll(async () => {
  rondo = await ordinaryDeployment();
  account = await newAccount(rondo);
  folder = mkdtempSync(join(tmpdir(), 'rondo-apps-'));
  packages = join(folder, 'packages');
  await run(process.execPath, [join(root, 'deploy/local/packages.mjs'), '--to', packages]);
  const { PATH, HOME } = process.env;
  env = { PATH, HOME, RONDO_URL: account.url, RONDO_API_KEY: account.key, RONDO_MODEL: 'demo/scripted' };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function create(template: string): Promise<string> {
  const words = [program, template, '--template', template, '--packages', packages];
  const { stdout } = await run(process.execPath, words, { cwd: folder });
  expect(stdout).toContain(`cd ${template}`);
  return join(folder, template);
}

const install = (app: string) => run('npm', ['install', '--offline', '--no-audit', '--no-fund'], { cwd: app });

/** Without a network the packages of others are those of this repository. */
async function installWithReact(app: string): Promise<void> {
  const modules = join(app, 'node_modules');
  mkdirSync(join(modules, '@rondo'), { recursive: true });
  for (const name of ['react', 'react-dom', 'esbuild'])
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  for (const name of ['client', 'react']) {
    const file = readdirSync(packages).find((one) => one.startsWith(`rondo-${name}-`)) ?? '';
    mkdirSync(join(modules, '@rondo', name));
    await run('tar', ['-xzf', join(packages, file), '--strip-components=1', '-C', join(modules, '@rondo', name)]);
  }
}

describe('create-rondo-app', () => {
  it('says what it can do, and writes over nothing', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect((await run(process.execPath, [program, '--version'])).stdout).toBe(`${version}\n`);
    const refused = (...words: string[]) =>
      run(process.execPath, [program, ...words], { cwd: folder }).catch((error: unknown) => error);
    expect(await refused('.')).toMatchObject({ code: 2, stderr: '. is not empty.\n' });
    writeFileSync(join(folder, 'taken'), 'a file');
    expect(await refused('taken')).toMatchObject({ code: 2, stderr: 'taken is no folder.\n' });
    expect(await refused('taken/new')).toMatchObject({ code: 1, stderr: expect.stringMatching(/^ENOTDIR: .*\n$/) });
    expect(await refused('new', '--template', 'game')).toMatchObject({
      stderr: expect.stringContaining('no template'),
    });
    expect(await refused()).toMatchObject({ code: 2, stderr: expect.stringContaining('--template') });
    expect(existsSync(join(folder, 'new'))).toBe(false);
  });

  it('the agent runs its own tools, a person at the terminal approves, and a refusal is one sentence', async () => {
    const app = await create('agent');
    await install(app);
    const calls = [call('find_order', { number: '17' }), call('cancel_order', { number: '18' })];
    const { input } = scriptInput('orders', [{ calls }, { text: 'All is done.' }]);

    const started = run('npm', ['start', '--silent', '--', input], { cwd: app, env });
    started.child.stdin?.end('y\n');
    const { stdout, stderr } = await started;

    expect(stdout).toBe('All is done.\n');
    expect(stderr).toContain('May it call cancel_order {"number":"18"}? [y/N]');
    const client = new Rondo({ baseUrl: account.url, apiKey: account.key });
    const { value } = await client.runs.list().next();
    const outputs: unknown[] = [];
    if (value) for await (const { result } of client.runs.toolCalls(value.id)) outputs.push(result?.output);
    expect(outputs).toEqual([expect.stringContaining('tomorrow'), 'It is cancelled.']);

    const refused = run('npm', ['start', '--silent', '--', input], {
      cwd: app,
      env: { ...env, RONDO_API_KEY: 'no-key' },
    });
    await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/^\n[^\n]+\n$/) });
  });

  it('the evaluation asks all questions, and writes a report', async () => {
    const app = await create('evaluation');
    await install(app);

    await run('npm', ['start', '--silent'], { cwd: app, env });
    await run('npm', ['run', 'report', '--silent'], { cwd: app, env });

    const results = readFileSync(join(app, 'output/validation/evaluation.jsonl'), 'utf8').trim().split('\n');
    const tasks = readFileSync(join(app, 'tasks.jsonl'), 'utf8').trim().split('\n');
    expect(results).toHaveLength(tasks.length);
    expect(readFileSync(join(app, 'report.html'), 'utf8')).toContain('<html');
  });
});

describe('the chat of create-rondo-app, in a browser', () => {
  let server: ChildProcess;
  let browser: ConsoleBrowser;
  let url: string;

  beforeAll(async () => {
    const app = await create('chat');
    await installWithReact(app);
    server = spawn(process.execPath, ['server.mjs'], {
      cwd: app,
      env: { ...env, PORT: `${await pagePort}` },
      stdio: 'pipe',
    });
    if (!server.stdout) throw new Error('the server has no output');
    [url] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
    browser = await ConsoleBrowser.start(rondo, account);
  });
  afterAll(async () => {
    await stopBrowser(browser);
    server.kill();
  });

  const conversation = () => browser.page.getByRole('log', { name: 'Conversation' });
  const say = async (about: string, turns: readonly Record<string, unknown>[]) => {
    await browser.page.getByRole('textbox', { name: 'Message' }).fill(scriptInput(about, turns).input);
    await browser.page.getByRole('button', { name: 'Send' }).click();
  };
  const open = () => browser.page.goto(url);
  const button = (name: string) => browser.page.getByRole('button', { name, exact: true });

  it('goes on with a reply after the page was loaded anew in the middle of it', async () => {
    await open();
    await say('slow', [{ text: `Here it begins. ${'word '.repeat(400)}Here it ends.`, pace_ms: 10 }]);
    await conversation().getByText('Here it begins.').last().waitFor();
    await browser.page.waitForURL(/\?thread=/);

    await browser.page.reload();

    const reply = conversation().getByRole('article', { name: 'Agent' });
    await reply.getByText(/^Here it begins\. (word )+Here it ends\.$/).waitFor();
    expect(await reply.count()).toBe(1);
    await button('Stop').waitFor({ state: 'detached' });
    await browser.expectAccessible('a chat');
  });

  it('stops a run, and says so', async () => {
    await open();
    await say('stopped', [{ calls: [command('sleep 60')] }]);
    await conversation()
      .getByText(/^Running sleep 60/)
      .first()
      .waitFor();

    await button('Stop').click();

    await conversation().getByText('The run was stopped.').waitFor();
  });

  it('asks, and the next message is the answer', async () => {
    await open();
    await say('asked', [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'Blue it is.' }]);
    await conversation().getByRole('article', { name: 'Agent' }).getByText('Which colour?').waitFor();

    await browser.page.getByRole('textbox', { name: 'Your answer' }).fill('Blue.');
    await button('Answer').click();

    await conversation().getByText('Blue it is.', { exact: true }).waitFor();
  });

  it('runs tools in the page, those that a person must approve after that', async () => {
    await open();
    const calls = [call('get_local_time', {}), call('save_note', { text: 'Milk' })];
    await say('tools', [{ calls }, { text: 'It is noted.' }]);
    const approval = browser.page.getByRole('group', { name: 'Approval of save_note' });
    await approval.getByText('"Milk"').waitFor();
    await browser.expectAccessible('an approval');

    await approval.getByRole('button', { name: 'Approve' }).click();

    await conversation().getByText('It is noted.', { exact: true }).waitFor();
    expect(await browser.page.evaluate('localStorage.getItem("note")')).toBe('Milk');
  });

  it('uploads a file, which the agent finds', async () => {
    await open();
    const file = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('seven swans') };
    await browser.page.getByLabel('Files to attach').setInputFiles(file);
    await browser.page.getByRole('list', { name: 'Files of this message' }).getByText('notes.txt').waitFor();
    await browser.page.getByText('(is being uploaded)').waitFor({ state: 'detached' });

    await say('upload', [{ calls: [command('grep -q "seven swans" notes.txt')] }, { text: 'Found.' }]);

    await conversation().getByText('Found.', { exact: true }).waitFor();
    const client = new Rondo({ baseUrl: account.url, apiKey: account.key });
    const { value } = await client.runs.list().next();
    if (!value) throw new Error('there is no run');
    for await (const { result } of client.runs.toolCalls(value.id)) expect(result).toMatchObject({ exit_code: 0 });
  });

  it('reaches what this browser has said, and nothing else of the account', async () => {
    await open();
    await say('mine', [{ text: 'It stays here.' }]);
    await conversation().getByText('It stays here.', { exact: true }).waitFor();
    const page = await (await fetch(`${url}/main.js`)).text();
    expect(page).not.toContain(account.key);
    expect((await fetch(`${url}/v1/runs`)).status).toBe(404);

    const answer = await fetch(`${url}/token`, { method: 'POST' });
    const { token } = (await answer.json()) as { token: string };
    const ask = (path: string) => fetch(`${account.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.headers.get('set-cookie')).toMatch(/^user=.+; HttpOnly; SameSite=Strict$/);
    expect(await (await ask('/v1/threads')).json()).toMatchObject({ data: [] });
    expect((await ask('/v1/api-keys')).status).toBe(403);
  });
});
