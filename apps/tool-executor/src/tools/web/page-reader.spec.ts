import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { EffectServer } from '../../testing/effect-server';
import { ExecutorFixture } from '../../testing/executor-fixture';
import { arxivHtml } from './visit-webpage.handlers';
import { pageUrl } from './page-source';

const paragraph = `<p>${'It is a long story, with many words, and it goes on. '.repeat(10)}</p>`;
const story = `<html><head><title>A story</title></head><body><nav><a href="/menu">menu</a></nav>
  <article><h1>The story</h1>${paragraph}<p><a href="next?page=2">Go on</a></p>${paragraph}</article></body></html>`;

const html =
  (body: string | Buffer, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(body);

describe('the built-in reader', () => {
  let server: EffectServer;
  let fixture: ExecutorFixture;

  beforeAll(async () => {
    server = await EffectServer.open({
      '/story': html(story),
      '/gzip': html(gzipSync(story), { 'content-encoding': 'gzip' }),
      '/moved': (response) => response.writeHead(302, { location: '/story' }).end(),
      '/latin': html(Buffer.from('<p>Grüße aus Köln</p>', 'latin1'), {
        'content-type': 'text/html; charset=iso-8859-1',
      }),
      '/meta': html(Buffer.from('<meta charset="windows-1251"><p>\xcf\xf0\xe8\xe2\xe5\xf2</p>', 'latin1')),
      '/undeclared': html(Buffer.from('<p>caf\xe9</p>', 'latin1')),
      '/app': html('<html><body><div id="root"></div><script src="app.js"></script></body></html>'),
      '/json': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'),
      '/zip': (response) => response.writeHead(200, { 'content-type': 'application/zip' }).end('PK'),
      '/gone': (response) => response.writeHead(404).end('no'),
      '/long': html(`<body>${'<p>word</p>'.repeat(20_000)}</body>`),
    });
    fixture = await ExecutorFixture.open({ egress: { policy: 'none', internalHosts: [server.internal] } });
  });
  afterAll(async () => {
    await fixture.close();
    await server.close();
  });

  const visit = (path: string) => fixture.use('visit_webpage', { url: server.url(path) });

  it.each(['/story', '/gzip', '/moved'])('shows the main text of %s as Markdown, with absolute links', async (path) => {
    const { success, output } = await visit(path);

    expect(success).toBe(true);
    expect(output).toMatch(/^# A story\nhttp:\/\/127/);
    expect(output).toContain(`[Go on](${server.url('/next?page=2')})`);
    expect(output).not.toContain('menu');
  });

  it.each([
    ['/latin', 'Grüße aus Köln'],
    ['/meta', 'Привет'],
    ['/undeclared', 'café'],
    ['/json', '{"a":1}'],
  ])('decodes %s', async (path, text) => {
    expect((await visit(path)).output).toContain(text);
  });

  it('reports a page that needs JavaScript', async () => {
    expect((await visit('/app')).output).toContain('builds its content with JavaScript, which is not run here');
  });

  it.each([
    ['/zip', 'it is not text but application/zip (2 bytes)'],
    ['/gone', 'its server answered with status 404'],
  ])('refuses %s', async (path, reason) => {
    expect((await visit(path)).error).toBe(`${server.url(path)} cannot be read: ${reason}.`);
  });

  it('shows 40,000 characters, and says how many are left out', async () => {
    const { output, truncated } = await visit('/long');

    expect(truncated).toBe(true);
    expect(output.length).toBeLessThan(40_200);
    expect(output).toMatch(/\[… \d+ characters left out; scrape_webpage, if you have it, saves the whole page/);
  });

  it('scrape_webpage saves the whole page', async () => {
    const { output } = await fixture.use('scrape_webpage', { urls: server.url('/long') });

    expect(output).toMatch(/Saved 1 of 1 pages\.\n- \/workspace\/scrape\/\S+ \(1\d{5} bytes\)/);
  });
});

it.each([
  ['https://arxiv.org/abs/1706.03762v7', 'https://arxiv.org/html/1706.03762v7'],
  ['https://arxiv.org/pdf/1706.03762', undefined],
  ['https://arxiv.org.example/abs/1', undefined],
])('the whole text of %s is %s', (url, better) => {
  expect(arxivHtml(new URL(url))?.href).toBe(better);
});

it.each([
  ['example.org/a', 'https://example.org/a'],
  ['localhost:3000/a', 'https://localhost:3000/a'],
  ['http://example.org', 'http://example.org/'],
  ['file:///etc/passwd', 'file:///etc/passwd'],
])('reads the URL %s as %s', (given, url) => {
  expect(pageUrl(given).href).toBe(url);
});
