import { gzipSync } from 'node:zlib';
import { ExecutorFixture } from '../../testing/executor-fixture';
import { TestServers, publicAddresses } from '../../testing/test-servers';
import { Parser } from '../../parsing/parser';
import { createToolServices } from '../tool-services';
import { PageReader } from './page-reader';

describe('attack: web pages', () => {
  const addresses = new Map<string, string[]>();
  let servers: TestServers;
  let fixture: ExecutorFixture;
  const sent = { bytes: 0 };

  beforeAll(async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024));
    servers = await TestServers.open((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://any');
      const html = { 'content-type': 'text/html' };
      if (pathname === '/to') response.writeHead(302, { location: searchParams.get('url') ?? '' }).end();
      else if (pathname === '/loop') response.writeHead(302, { location: '/loop' }).end();
      else if (pathname === '/bomb') response.writeHead(200, { ...html, 'content-encoding': 'gzip' }).end(bomb);
      else if (pathname === '/slow') response.writeHead(200, html).write('<p>');
      else if (pathname === '/million') response.writeHead(200, html).end('<b>x</b>'.repeat(1_000_000));
      else if (pathname === '/gigabyte') {
        response.writeHead(200, html);
        const chunk = Buffer.alloc(1024 * 1024, 'x');
        const write = () => {
          while (sent.bytes < 1024 ** 3 && !response.destroyed) {
            sent.bytes += chunk.length;
            if (!response.write(chunk)) return response.once('drain', write);
          }
          return response.end();
        };
        write();
      } else response.end('<p>target</p>');
    });
    const resolve = async (host: string) => addresses.get(host)?.splice(0, 1) ?? [];
    const services = { ...createToolServices(), pages: new PageReader(new Parser(), 10_000) };
    const egress = { resolve, isAllowed: (address: string) => publicAddresses.includes(address) };
    fixture = await ExecutorFixture.open({}, egress, { services });
  });
  afterAll(async () => {
    await fixture.close();
    await servers.close();
  });
  beforeEach(() => {
    addresses.set('public.example', Array(10).fill('127.0.0.2'));
    addresses.set('rebind.example', ['127.0.0.2', '127.0.0.1']);
    servers.target.length = 0;
  });
  afterEach(() => expect(servers.canary).toEqual([]));

  const visit = async (url: string) =>
    (await fixture.use('visit_webpage', { url: url.replaceAll('PORT', String(servers.port)) })).error;

  it('a public page can be read, so what follows is refused for its own reason', async () => {
    expect(await visit('http://public.example:PORT/')).toBeUndefined();
  });

  it.each([
    'http://127.0.0.1:PORT/',
    'http://localhost:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://2130706433:PORT/',
    'http://169.254.169.254/latest/meta-data/',
    'http://metadata.google.internal/',
    'http://user:password@public.example:PORT/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:PORT/_FLUSHALL',
  ])('%s, directly and by a redirect', async (url) => {
    const to = url.replaceAll('PORT', String(servers.port));
    expect(await visit(url)).toContain('cannot be read');
    expect(await visit(`http://public.example:PORT/to?url=${encodeURIComponent(to)}`)).toContain('cannot be read');
    expect(servers.target).toHaveLength(1);
  });

  it('a name that resolves to another address the second time', async () => {
    const error = await visit('http://rebind.example:PORT/to?url=http://rebind.example:PORT/');

    expect(error).toContain('rebind.example is not a public address');
    expect(servers.target).toEqual(['127.0.0.2']);
  });

  it('a redirect loop', async () => {
    expect(await visit('http://public.example:PORT/loop')).toContain('redirects more than 5 times');
    expect(servers.target).toHaveLength(6);
  });

  it('a body of a gigabyte, of which little is read', async () => {
    expect(await visit('http://public.example:PORT/gigabyte')).toContain('larger than 10 MiB');
    expect(sent.bytes).toBeLessThan(100 * 1024 * 1024);
  });

  it('a gzip bomb', async () => {
    expect(await visit('http://public.example:PORT/bomb')).toContain('larger than 10 MiB');
  });

  it('a body that never ends', async () => {
    expect(await visit('http://public.example:PORT/slow')).toContain('did not arrive within 10 s');
  });

  it('HTML with a million elements', async () => {
    const refused = await visit('http://public.example:PORT/million');
    expect(refused).toMatch(/1000000 elements; the limit is|takes longer than/); // whichever limit a machine meets first
  });
});
