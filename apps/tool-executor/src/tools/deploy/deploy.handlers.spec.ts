import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { request } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { readPreviewLabel } from '@rondo/messaging';
import { newUlid } from '@rondo/platform';
import { SiteServer } from '../../sites/site-server';
import { SiteStore } from '../../sites/site-store';
import { ExecutorFixture, sandboxRoot } from '../../testing/executor-fixture';
import { PreviewUrls } from '../../sites/preview-urls';

const maxBytes = 1_000_000;
let executor: ExecutorFixture;
let root: string;
let store: SiteStore;
let server: Server;
/** The site that the server shows. */
let shown: { threadId: string; token: string };

beforeAll(async () => {
  root = await sandboxRoot();
  store = new SiteStore({ root, previews: new PreviewUrls('http://*.localhost:3000'), maxBytes });
  executor = await ExecutorFixture.open({ root }, {}, { sites: store });
  const sites = new SiteServer(store);
  server = createServer({ allowHalfOpen: true }, (socket) => void sites.serve(socket, shown)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.close();
  await executor.close();
});

const newThread = () => `thr_${newUlid()}`;
const shell = (thread: string, command: string) =>
  executor.use('execute_command', { command, blocking: true }, { thread });

async function deploy(thread: string, directory_path = 'site', name?: string) {
  const result = await executor.use('deploy', { directory_path, ...(name !== undefined && { name }) }, { thread });
  if (!result.success) throw new Error(result.error);
  const said = JSON.parse(result.output) as { url: string; message: string };
  const address = readPreviewLabel(new URL(said.url).hostname.split('.')[0] ?? '');
  shown = { threadId: address?.threadId ?? '', token: address?.token ?? '' };
  return said;
}

/** The path is sent as it stands: `fetch` would resolve `..` itself. */
async function ask(path: string, { method = 'GET', headers = {} } = {}) {
  const { port } = server.address() as AddressInfo;
  const outgoing = request({ host: '127.0.0.1', port, path, method, headers: { connection: 'close', ...headers } });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [import('node:http').IncomingMessage];
  response.setEncoding('utf8');
  let body = '';
  for await (const part of response as AsyncIterable<string>) body += part;
  return { status: response.statusCode, headers: response.headers, body };
}

describe('deploy', () => {
  it('publishes a folder, which stays when its files and its sandbox are gone', async () => {
    const thread = newThread();
    await shell(thread, 'mkdir -p site/docs && echo "<h1>Hello</h1>" > site/index.html && echo "a{}" > site/a.css');
    await shell(thread, 'echo deep > site/docs/index.html; printf "\\0\\1" > "site/übung 1.bin"');

    expect((await deploy(thread)).message).toContain('Published 4 files');
    await shell(thread, 'rm -rf site');
    await executor.killSandbox(thread);

    const page = await ask('/');
    expect(page).toMatchObject({ status: 200, body: '<h1>Hello</h1>\n' });
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-length': '15',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect((await ask('/a.css?v=1')).headers['content-type']).toBe('text/css; charset=utf-8');
    expect(await ask('/docs/')).toMatchObject({ status: 200, body: 'deep\n' });
    expect(await ask('/docs')).toMatchObject({ status: 308, headers: { location: '/docs/' } });
    expect((await ask(`/${encodeURIComponent('übung 1.bin')}`)).headers['content-type']).toBe(
      'application/octet-stream',
    );
    const tag = page.headers.etag ?? '';
    expect((await ask('/', { headers: { 'if-none-match': tag } })).status).toBe(304);
    expect(await ask('/', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    expect((await ask('/', { method: 'POST' })).status).toBe(405);
    expect((await ask('/none')).status).toBe(404);
    expect((await ask('/%zz')).status).toBe(400);
  });

  it('replaces a site at its URL, and leaves the old one when the new one is refused', async () => {
    const thread = newThread();
    await shell(thread, 'mkdir site && echo one > site/index.html && echo old > site/old.txt');
    const { url } = await deploy(thread);
    await shell(thread, 'rm site/old.txt && echo two > site/index.html');

    expect((await deploy(thread)).url).toBe(url);
    expect((await ask('/')).body).toBe('two\n');
    expect((await ask('/old.txt')).status).toBe(404);

    await shell(thread, `head -c ${maxBytes + 1} /dev/zero > site/huge`);
    await expect(deploy(thread)).rejects.toThrow(/may have 1000000 bytes together/);
    expect((await ask('/')).body).toBe('two\n');
    expect(await readdir(join(root, '.sites', thread))).toHaveLength(2); // the table and one version
  });

  it('never shows half of a site while it is replaced', async () => {
    const thread = newThread();
    const fill = (word: string) => shell(thread, `mkdir -p site; for n in 1 2 3; do echo ${word} > site/$n; done`);
    await fill('one');
    await deploy(thread);
    await fill('two');

    const deploying = deploy(thread);
    const over = new AbortController();
    void deploying.finally(() => over.abort());
    while (!over.signal.aborted) expect(['one\n', 'two\n']).toContain((await ask('/3')).body);
    await deploying;
    expect((await ask('/3')).body).toBe('two\n');
  });

  it('publishes one file under the name that II-Agent knows, and takes sites down', async () => {
    const thread = newThread();
    await shell(thread, 'echo "<p>" > page.html');

    const result = await executor.use('static_deploy', { file_path: '/workspace/page.html' }, { thread });
    const { url } = JSON.parse(result.output) as { url: string };
    const { pathname, hostname } = new URL(url);
    const address = readPreviewLabel(hostname.split('.')[0] ?? '');
    shown = { threadId: thread, token: address?.token ?? '' };

    expect(pathname).toBe('/page.html');
    expect(await ask(pathname)).toMatchObject({ status: 200, body: '<p>\n' });
    expect((await executor.use('undeploy', { name: 'page.html' }, { thread })).output).toContain('was taken down');
    expect((await executor.use('undeploy', { name: 'page.html' }, { thread })).output).toContain('There is no site');
    expect((await ask(pathname)).status).toBe(404);
    expect(await readdir(join(root, '.sites', thread))).toEqual(['sites.json']);
  });

  it('goes with its thread, and with what a dead executor left of an unfinished one', async () => {
    const thread = newThread();
    await shell(thread, 'mkdir site && echo one > site/index.html');
    await mkdir(join(root, '.sites', thread, 'left-over'), { recursive: true });
    await writeFile(join(root, '.sites', thread, 'left-over', '0'), 'half');
    await deploy(thread);
    expect(await readdir(join(root, '.sites', thread))).not.toContain('left-over');
    expect(await store.threads()).toContain(thread);

    await store.remove(thread);

    expect((await ask('/')).status).toBe(404);
    expect(await store.threads()).not.toContain(thread);
  });

  it('serves a part of a file, and all of it to who has a part of another version', async () => {
    const thread = newThread();
    await shell(thread, 'mkdir -p site && printf 0123456789 > site/film.mp4 && : > site/empty.bin');
    await deploy(thread);

    const part = await ask('/film.mp4', { headers: { range: 'bytes=2-5' } });
    const { etag = '' } = part.headers;
    expect(part).toMatchObject({
      ...{ status: 206, body: '2345' },
      headers: { 'content-range': 'bytes 2-5/10', 'content-length': '4', 'content-type': 'video/mp4' },
    });
    expect(await ask('/film.mp4', { headers: { range: 'bytes=-3', 'if-range': etag } })).toMatchObject({
      ...{ status: 206, body: '789' },
    });
    expect(await ask('/film.mp4', { headers: { range: 'bytes=2-5', 'if-range': '"another"' } })).toMatchObject({
      ...{ status: 200, body: '0123456789', headers: { 'accept-ranges': 'bytes' } },
    });
    expect(await ask('/film.mp4', { method: 'HEAD', headers: { range: 'bytes=2-5' } })).toMatchObject({
      ...{ status: 200, body: '', headers: { 'content-length': '10' } },
    });
    for (const range of ['bytes=10-', 'bytes=-0', `bytes=${'9'.repeat(300)}-`]) {
      const { status, headers } = await ask('/film.mp4', { headers: { range } });
      expect([status, headers['content-range']]).toEqual([416, 'bytes */10']);
    }
    expect(await ask('/film.mp4', { headers: { range: 'bytes=0-0,2-3' } })).toMatchObject({ status: 200 });
    expect(await ask('/empty.bin')).toMatchObject({ status: 200, body: '', headers: { 'content-length': '0' } });
    expect(await ask('/empty.bin', { headers: { range: 'bytes=0-' } })).toMatchObject({ status: 416 });
  });

  it('refuses more sites of a thread than it may have, and still replaces those that it has', async () => {
    const thread = newThread();
    await shell(thread, 'mkdir -p site && : > site/index.html');
    for (let count = 1; count <= 20; count += 1) await deploy(thread, 'site', `site-${count}`);

    await expect(deploy(thread, 'site', 'another')).rejects.toThrow('A thread may have 20 sites.');
    expect(await deploy(thread, 'site', 'site-20')).toMatchObject({ url: expect.any(String) });
    expect(await store.withdraw(thread, 'site-1')).toBe(true);
    expect(await deploy(thread, 'site', 'another')).toMatchObject({ url: expect.any(String) });
  });

  it('is listed for the account of its thread, and taken down from outside', async () => {
    const thread = newThread();
    await shell(thread, 'mkdir -p site && echo hi > site/index.html');
    const { url } = await deploy(thread, 'site', 'shop');
    const listed = async (account: string) =>
      (await store.ofAccount(account, () => Promise.resolve(undefined))).filter(({ threadId }) => threadId === thread);

    expect(await listed('acc_2')).toEqual([]);
    expect(await listed('acc_1')).toEqual([
      { threadId: thread, name: 'shop', url, files: 1, bytes: 3, publishedAt: expect.any(String) },
    ]);

    expect(await store.withdraw(thread, 'shop')).toBe(true);
    expect(await store.withdraw(thread, 'shop')).toBe(false);
    expect(await store.withdraw(newThread(), 'shop')).toBe(false);
    expect(await listed('acc_1')).toEqual([]);
    expect(await ask('/')).toMatchObject({ status: 404 });
  });

  it('is listed by the owner of its thread where an older version has published it', async () => {
    const thread = newThread();
    await shell(thread, 'mkdir -p site && echo hi > site/index.html');
    await deploy(thread);
    const table = join(root, '.sites', thread, 'sites.json');
    const [site] = JSON.parse(await readFile(table, 'utf8')) as Record<string, unknown>[];
    await writeFile(table, JSON.stringify([{ ...site, account: undefined, publishedAt: undefined }]));

    const found = await store.ofAccount('acc_9', (id) => Promise.resolve(id === thread ? 'acc_9' : 'acc_1'));

    expect(found).toMatchObject([{ threadId: thread, publishedAt: undefined }]);
  });

  it('is not possible where previews are not configured', async () => {
    const other = await ExecutorFixture.open();
    expect((await other.use('deploy', { directory_path: '.' })).error).toContain('PREVIEW_URL');
    expect((await other.use('undeploy', { name: 'x' })).error).toContain('PREVIEW_URL');
    await other.close();
  });
});

describe('attack: a site that reaches for other files', () => {
  it('is answered with its own files only, whatever the path', async () => {
    const thread = newThread();
    await writeFile(join(root, 'secret.txt'), 'secret of the host');
    await shell(thread, 'mkdir site && echo one > site/index.html && echo private > private.txt');
    await deploy(thread);
    const up = '/..'.repeat(12);
    const paths = [
      ...['/../private.txt', '/%2e%2e/private.txt', '/..%2fprivate.txt', '/..\\private.txt', '/./../sites.json'],
      ...[
        `${up}/etc/passwd`,
        `${up}${root}/secret.txt`,
        `//${root}/secret.txt`,
        '/%00',
        '/index.html%00.txt',
        '/0',
        '/.',
      ],
      ...['/__proto__', '/constructor', '/sites.json', 'http://elsewhere/index.html', '*'],
    ];
    for (const path of paths) {
      const { status, body } = await ask(path);
      expect([path, status === 400 || status === 404, body]).toEqual([
        path,
        true,
        expect.stringMatching(/^(This is not|There is no)/),
      ]);
    }
  });

  it('publishes neither links nor hidden files', async () => {
    const thread = newThread();
    await shell(
      thread,
      'mkdir -p site/.git && echo one > site/index.html && echo key > site/.env && echo x > site/.git/HEAD',
    );
    expect((await deploy(thread)).message).toContain('Published 1 files');
    expect((await ask('/.env')).status).toBe(404);

    for (const [make, why] of [
      ['ln -s /etc/passwd site/passwd', /link/],
      ['rm site/passwd; ln -s / site/all', /link/],
      ['rm site/all; mkfifo site/pipe', /link or not a file/],
      ['rm site/pipe; mkdir -m 0 site/closed', /closed cannot be read/],
    ] as const) {
      await shell(thread, make);
      await expect(deploy(thread)).rejects.toThrow(why);
    }
    await shell(thread, 'ln -s site linked');
    await expect(deploy(thread, 'linked')).rejects.toThrow(/neither a folder nor a file/);
    await expect(deploy(thread, '../../etc')).rejects.toThrow(/outside/);
    await expect(deploy(thread, 'nothing')).rejects.toThrow(/does not exist/);
  });

  it('never gets a file of the host by exchanging a file for a link meanwhile', async () => {
    const thread = newThread();
    const secret = join(root, 'secret.txt');
    await writeFile(secret, 'secret of the host');
    const flip = `while :; do ln -sf ${secret} site/.l; mv -f site/.l site/f; echo own > site/.o; mv -f site/.o site/f; done`;
    await shell(thread, 'mkdir site && echo own > site/f');
    await executor.use('execute_command', { command: flip, session_name: 'flip' }, { thread });

    for (let attempt = 0; attempt < 20; attempt += 1) {
      const wasPublished = await deploy(thread).then(
        () => true,
        () => false,
      );
      if (!wasPublished) continue;
      expect((await ask('/f')).body).toBe('own\n');
    }
    await executor.use('terminate_command', { session_name: 'flip' }, { thread });
    await shell(thread, 'rm -f site/f; echo own > site/f');
    await deploy(thread);
    expect((await ask('/f')).body).toBe('own\n');
  });

  it('is refused when it has too many files, lies too deep, or is huge', async () => {
    const thread = newThread();
    await shell(thread, 'mkdir many && cd many && seq 1500 | xargs touch');
    await expect(deploy(thread, 'many')).rejects.toThrow(/more than 1000 files/);
    await shell(thread, `mkdir -p deep${'/d'.repeat(40)}`);
    await expect(deploy(thread, 'deep')).rejects.toThrow(/too deep/);
    await shell(thread, 'mkdir huge && truncate -s 900M huge/zeros');
    await expect(deploy(thread, 'huge')).rejects.toThrow(/may have 1000000 bytes together/);
    await shell(thread, 'mkdir empty');
    await expect(deploy(thread, 'empty')).rejects.toThrow(/no files/);
  });

  it('keeps names that are hostile to a disk as keys of a table', async () => {
    const thread = newThread();
    const long = 'n'.repeat(250);
    await shell(
      thread,
      `mkdir site && cd site && echo a > '${long}' && echo b > $'new\\nline' && echo c > '%2e%2e' && echo d > sites.json`,
    );
    await deploy(thread);

    expect((await ask(`/${long}`)).body).toBe('a\n');
    expect((await ask('/new%0Aline')).body).toBe('b\n');
    expect((await ask('/%252e%252e')).body).toBe('c\n');
    expect((await ask('/sites.json')).body).toBe('d\n');
    const table = JSON.parse(await readFile(join(root, '.sites', thread, 'sites.json'), 'utf8')) as {
      version: string;
    }[];
    const disk = await readdir(join(root, '.sites', thread, table[0]?.version ?? ''));
    expect(disk.sort()).toEqual(['0', '1', '2', '3']);
  });

  it('cannot be opened with another token or as another thread', async () => {
    const thread = newThread();
    await shell(thread, 'mkdir site && echo one > site/index.html');
    await deploy(thread);
    const { token } = shown;

    expect(await store.find(thread, `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`)).toBeUndefined();
    expect(await store.find(newThread(), token)).toBeUndefined();
    expect(await store.find('../..', token)).toBeUndefined();
    expect(await store.find(thread, '')).toBeUndefined();
  });
});
