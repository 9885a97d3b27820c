import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { RondoClient, RunningRondo } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { io } from 'socket.io-client';
import { ConsoleBrowser, stopBrowser } from '../console-browser';
import { newAccount, ordinaryDeployment } from '../shared-deployment';

const program = resolve(__dirname, '../../../cli/bin/rondo.mjs');

let rondo: RunningRondo;
let client: RondoClient;
let browser: ConsoleBrowser;
let page: Page;
let folder: string;
beforeAll(async () => {
  rondo = await ordinaryDeployment();
  client = await newAccount(rondo);
  browser = await ConsoleBrowser.start(rondo, client);
  ({ page } = browser);
  folder = mkdtempSync(join(tmpdir(), 'rondo-console-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await stopBrowser(browser);
});

const environment = () => ({ PATH: process.env.PATH, RONDO_API_KEY: client.key });

/** The command in pipes, and the lines of its output as they come. */
function start(words: readonly string[], env: NodeJS.ProcessEnv = environment()) {
  const child = spawn(process.execPath, [program, 'console', ...words], { cwd: folder, env });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => ((await lines.next()) as { value: string }).value;
  return { child, line, ended: readEnd(child) };
}

async function readEnd(child: ChildProcessWithoutNullStreams): Promise<{ code: number; stderr: string }> {
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, stderr };
}

describe('the console through `rondo console`', () => {
  let command: ReturnType<typeof start>;
  let url: string;
  const seen: { url: string; headers: Record<string, string> }[] = [];

  beforeAll(async () => {
    command = start(['--gateway', client.url, '--port', '0', '--no-open']);
    page.on('request', (request) => seen.push({ url: request.url(), headers: request.headers() }));
    const link = await command.line();
    url = new URL(link).origin;
    await page.goto(link);
  });

  const text = () => page.getByRole('log').innerText();

  it('needs no key in the browser, and gives it none', async () => {
    const run = await client.createRun({ model: 'demo/plain', input: 'Say hello.' });
    await page.getByRole('link', { name: 'Say hello.' }).getByText('Completed').waitFor();

    const stored = await page.evaluate('document.cookie + JSON.stringify([localStorage, sessionStorage])');
    const cookies = await page.context().cookies();
    expect(JSON.stringify([stored, cookies, seen, await page.content()])).not.toContain(client.key);
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict', domain: '127.0.0.1' }]);
    expect(new Set(seen.map((request) => new URL(request.url).origin))).toEqual(new Set([url]));
    await page.goto(`${url}/console/runs/${run.id}`);
    await page.getByRole('button', { name: 'Verify this log' }).click();
    await page.getByRole('button', { name: /complete, proven in this browser/ }).waitFor();
  });

  it('shows a text while it is written, also after the gateway was killed', async () => {
    const run = await client.createRun({ model: 'demo/long:tokens=500', input: 'Tell me a story.' });
    await page.goto(`${url}/console/runs/${run.id}`);
    await page.getByText('The quick brown fox').first().waitFor();
    const before = await text();

    await rondo.services.get('gateway').kill();
    await page.getByText('Connection lost').waitFor();
    await rondo.services.get('gateway').start();
    await page.getByText('Completed', { exact: true }).waitFor();
    expect((await text()).length).toBeGreaterThan(before.length);
    await browser.expectFirstReply(run.id);
  });

  it('answers a question', async () => {
    const run = await client.createRun({ model: 'demo/ask', input: 'Paint the shed.' });
    await page.goto(`${url}/console/runs/${run.id}`);
    await page.getByLabel('Your answer').fill('Green.');
    await page.keyboard.press('Control+Enter');
    await page.getByText('I go on with your answer: Green.').waitFor();
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
  });

  it('carries sockets of its own origin', async () => {
    const cookies = await page.context().cookies();
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const createSocket = (extraHeaders: Record<string, string>) =>
      io(`${url}/runs`, { extraHeaders, transports: ['websocket'], forceNew: true, reconnection: false });

    const socket = createSocket({ cookie, Origin: url });
    await new Promise((connected) => socket.once('connect', () => connected(undefined)));
    const answer: unknown = await socket.emitWithAck('run.create', { model: 'demo/plain', input: 'By a socket.' });
    socket.disconnect();
    expect(answer).toMatchObject({ ok: true, data: { id: expect.stringMatching(/^run_/) } });

    const foreign = createSocket({ cookie, Origin: client.url });
    await new Promise((refused) => foreign.once('connect_error', refused));
  });

  it('does nothing for a page of another origin, not even of another port', async () => {
    const other = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<p>other</p>'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
    const attempt = (path: string, options: object) =>
      page.evaluate(
        `fetch(${JSON.stringify(`${url}${path}`)}, { credentials: 'include', ...${JSON.stringify(options)} })
          .then(({ type }) => type, () => 'refused')`,
      );
    const body = JSON.stringify({ model: 'demo/plain', input: 'Planted.' });

    expect(await attempt('/v1/runs', {})).toBe('refused');
    expect(await attempt('/v1/runs', { method: 'POST', body, mode: 'no-cors' })).toBe('opaque');
    expect(await attempt('/v1/runs', { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })).toBe(
      'refused',
    );
    other.close();
    const { data } = await client.json<{ data: unknown[] }>('GET', '/runs?q=Planted');
    expect(data).toEqual([]);
  });

  it('is followed by a link from elsewhere, and signs out', async () => {
    await page.goto('data:text/html,<a>nothing</a>');
    await page.goto(`${url}/console/runs`);
    await page.getByRole('link', { name: 'Say hello.' }).waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').fill(client.key);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Open the link that it printed').waitFor();
  });

  it('prints another link at Enter, and ends at an interrupt with all that is open', async () => {
    command.child.stdin.write('\n');
    await page.goto(await command.line());
    await page.getByRole('link', { name: 'Say hello.' }).waitFor();

    command.child.kill('SIGINT');

    const { code, stderr } = await command.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(`The console of ${client.url}`) });
    expect(stderr).not.toContain(client.key);
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });
});

describe('`rondo console`', () => {
  it('prints JSON', async () => {
    const { child, line, ended } = start(['--url', client.url, '--port', '0', '--json']);
    const printed: unknown = JSON.parse(await line());
    child.kill('SIGTERM');

    expect(printed).toEqual({
      link: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/session\?code=\S+$/),
      gateway: client.url,
    });
    expect(await ended).toEqual({ code: 0, stderr: '' });
  });

  it('explains what is wrong before it listens', async () => {
    const taken = createServer();
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo; // it listens on a port
    const at = ['--url', client.url];

    const endings = [
      [...at, '--port', String(port)],
      [...at, '--port', 'x'],
      ['--url', 'nonsense'],
      [...at, '--key', 'rondo_wrong'],
      ['--url', 'http://127.0.0.1:1'],
    ].map((words) => start(words).ended);

    expect(await Promise.all(endings)).toEqual([
      { code: 2, stderr: expect.stringContaining(`Port ${port} is taken`) },
      { code: 2, stderr: expect.stringContaining('--port takes a number') },
      { code: 2, stderr: expect.stringContaining('no URL') },
      { code: 1, stderr: expect.stringContaining('unauthorized') },
      { code: 5, stderr: expect.stringContaining('cannot be reached') },
    ]);
    taken.close();
  });

  it('opens the link in the browser of a person at a terminal', async () => {
    const opened = join(folder, 'opened');
    writeFileSync(
      join(folder, 'xdg-open'),
      `#!/bin/sh\necho "$1" > '${opened}.part' && mv '${opened}.part' '${opened}'\n`,
    );
    chmodSync(join(folder, 'xdg-open'), 0o755);
    const line = `exec ${process.execPath} ${program} console --url ${client.url} --port 0`;
    const env = { ...environment(), PATH: `${folder}:${process.env.PATH ?? ''}`, TERM: 'xterm' };
    const child = spawn('script', ['-qfec', line, '/dev/null'], { cwd: folder, env });
    let screen = '';
    const showsLink = new Promise<void>((shown) =>
      child.stdout.on('data', (chunk: Buffer) => {
        screen += chunk.toString();
        if (/session\?code=\S+\r\n/.test(screen)) shown();
      }),
    );
    const ended = once(child, 'close');
    await showsLink;
    while (!existsSync(opened)) await new Promise((look) => setTimeout(look, 20));
    child.stdin.write('\u0003');

    expect((await ended)[0]).toBe(0);
    expect(screen).toContain(readFileSync(opened, 'utf8').trim());
  });
});
