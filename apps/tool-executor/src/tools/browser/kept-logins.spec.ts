import { randomBytes } from 'node:crypto';
import { SecretBox } from '@rondo/platform';
import { createToolServices } from '../tool-services';
import { BrowserFixture } from './testing/browser-fixture';

const services = createToolServices(undefined, { box: new SecretBox(randomBytes(32).toString('base64'), 'mcp') });

describe('the logins of a browser', () => {
  let first: BrowserFixture;
  let replacement: BrowserFixture;
  const pages: Parameters<typeof BrowserFixture.open>[0] = {
    services,
    pages: ({ url, headers }, response) => {
      const cookies = ['session=s-4711; HttpOnly', 'theme=dark; Max-Age=3600; Domain=public.example'];
      response.writeHead(200, { 'Content-Type': 'text/html', ...(url === '/login' && { 'Set-Cookie': cookies }) });
      response.end(`<title>${(headers.cookie ?? 'nobody').split('; ').sort().join(' ')}</title>`);
    },
  };
  beforeAll(async () => {
    first = await BrowserFixture.open(pages);
    replacement = await BrowserFixture.open(pages);
  });
  afterAll(async () => {
    await first.close();
    await replacement.close();
  });

  const open = async (path: string, thread: string, { use, site } = first) =>
    (await use('browser_navigate_to', { url: `${site}${path}` }, { thread })).browser?.title;

  it('outlive the browser and every process of the sandbox, also those that end with the browser', async () => {
    await open('/login', 'thr_one');
    await (await first.executor.sandbox('thr_one')).stop();

    expect(await open('/', 'thr_one')).toBe('session=s-4711 theme=dark');
  });

  it('come with the workspace to another executor, and to no other thread', async () => {
    await open('/login', 'thr_moved');
    const from = await first.executor.sandbox('thr_moved');
    const { content } = await from.files.read('.browser/logins');
    for (const thread of ['thr_moved', 'thr_other']) {
      const to = await replacement.executor.sandbox(thread);
      await to.files.write('.browser/logins', content, { mode: 'put' });
    }

    expect(content.toString()).not.toContain('s-4711');
    expect(await open('/', 'thr_moved', replacement)).toBe('session=s-4711 theme=dark');
    expect(await open('/', 'thr_other', replacement)).toBe('nobody');
  });

  it('are begun without where a command has changed the file', async () => {
    await open('/login', 'thr_changed');
    const sandbox = await first.executor.sandbox('thr_changed');
    await sandbox.files.write('.browser/logins', 'v2.bm90aGluZw==', { mode: 'put' });
    await sandbox.stop();

    expect(await open('/', 'thr_changed')).toBe('nobody');
  });
});
