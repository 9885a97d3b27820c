import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer, get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { OutboundProxy, createProxyAgents } from '@rondo/platform';
import { ConnectProxy } from '@rondo/platform/testing';
import { McpServerFixture } from './mcp/testing/mcp-server-fixture';
import { remoteTransport } from './mcp/remote-transport';
import { S3Snapshots } from './sandboxes/snapshots/s3-snapshots';
import { readChecksum } from './sandboxes/snapshots/checksums';
import { S3Server } from './sandboxes/snapshots/testing/s3-server';
import { serviceSettings } from './services/service-settings';
import { ApiServer, json } from './testing/api-server';
import { certificateFor } from './testing/certificates';
import { EffectServer } from './testing/effect-server';
import { ExecutorFixture } from './testing/executor-fixture';
import { createToolServices } from './tools/tool-services';

const thread = 'thr_one';
let proxy: ConnectProxy;
let web: EffectServer;
let search: ApiServer;
let mcp: McpServerFixture;
let s3: S3Server;
let fixture: ExecutorFixture;
let outbound: OutboundProxy | undefined;

beforeAll(async () => {
  const html = `<html><body><article><p>${'The sky is blue. '.repeat(30)}</p></article></body></html>`;
  web = await EffectServer.open({
    '/page': (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(html),
    '/inside': (response) => response.writeHead(302, { location: 'http://metadata.google.internal/' }).end(),
  });
  search = await ApiServer.open((_, response) =>
    json(response, { results: [{ title: 'Sky', url: 'https://sky.example/' }] }),
  );
  mcp = await McpServerFixture.open();
  s3 = await S3Server.start();
  proxy = await ConnectProxy.start({
    'web.invalid:80': web.port,
    'search.invalid:80': search.port,
    'mcp.invalid:80': mcp.port,
    's3.invalid:80': Number(new URL(s3.endpoint).port),
  });
  outbound = OutboundProxy.from({ HTTP_PROXY: proxy.url });
  const settings = serviceSettings({ SEARXNG_URL: 'http://search.invalid' });
  const services = createToolServices(settings, { proxy: outbound });
  fixture = await ExecutorFixture.open({}, { proxy: outbound }, { services });
});
afterAll(async () => {
  proxy.stop();
  await Promise.all([fixture.close(), web.close(), search.close(), mcp.close(), s3.close()]);
});
beforeEach(() => (proxy.asked.length = 0));
afterEach(() => expect(proxy.refused).toEqual([]));

describe('with a proxy as the only way out', () => {
  it('http_request and the page reader ask it by name', async () => {
    const { output } = await fixture.use('http_request', {
      method: 'POST',
      url: 'http://web.invalid/order',
      body: 'one',
    });
    expect(output).toContain('POST /order one');
    expect((await fixture.use('visit_webpage', { url: 'http://web.invalid/page' })).output).toContain(
      'The sky is blue.',
    );
    expect(proxy.asked).toEqual(['web.invalid:80', 'web.invalid:80']);
  });

  it('web_search asks its engine through it', async () => {
    expect(await fixture.use('web_search', { query: 'sky' })).toMatchObject({ success: true });
    expect(proxy.asked).toEqual(['search.invalid:80']);
  });

  it('commands in a sandbox leave through it, too', async () => {
    const command = 'curl -sS -m 20 http://web.invalid/of-a-command; curl -sS -m 20 http://web.internal/';
    const { output } = await fixture.use('execute_command', { command, blocking: true });
    expect(output).toMatch(/GET \/of-a-command[^]*not a public name/);
    expect(proxy.asked).toEqual(['web.invalid:80']);
  });

  it('an MCP server is reached through it', async () => {
    const client = new Client({ name: 'spec', version: '1' });
    const server = { name: 'far', transport: 'streamable_http', url: 'http://mcp.invalid/mcp' } as const;
    const egress = fixture.provider.toEgress(thread);
    const broke = (error: Error) => {
      throw error;
    };
    await client.connect(remoteTransport(server, { headers: {}, egress, broke, unasked: () => undefined }));
    expect((await client.listTools()).tools).toMatchObject([{ name: 'echo' }]);
    await client.close();
    expect(new Set(proxy.asked)).toEqual(new Set(['mcp.invalid:80']));
  });

  it('copies of workspaces go to the bucket through it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'proxied-'));
    const place = { bucket: s3.bucket, prefix: 'copies', endpoint: 'http://s3.invalid', credentials: s3.account };
    const store = new S3Snapshots({ ...place, proxy: outbound });
    const file = join(folder, 'file');
    await writeFile(file, 'content');
    const key = { threadId: 'thr_1', executorId: 'exe_1' };
    await store.save(key, {
      file,
      info: { takenAt: new Date().toISOString(), labels: {}, ...(await readChecksum(file)) },
    });
    await store.fetch(key, join(folder, 'copy'));
    expect(await readFile(join(folder, 'copy'), 'utf8')).toBe('content');
    expect(new Set(proxy.asked)).toEqual(new Set(['s3.invalid:80']));
    await rm(folder, { recursive: true });
  });

  it('agents for libraries do TLS with the host itself', async () => {
    const { ca, key, cert } = certificateFor('secure.invalid');
    const server = createServer({ key, cert }, (_, response) => response.end('secret')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // It listens on TCP.
    const inFront = await ConnectProxy.start({ 'secure.invalid:443': port, 'wrong.invalid:443': port });
    const through = OutboundProxy.from({ HTTP_PROXY: inFront.url });
    const { httpsAgent: agent } = through ? createProxyAgents(through) : {};
    const ask = async (url: string) => {
      const [answer] = (await once(get(url, { agent, ca }), 'response')) as [IncomingMessage]; // Node's documented arguments.
      return text(answer);
    };

    expect(await ask('https://secure.invalid/')).toBe('secret');
    await expect(ask('https://wrong.invalid/')).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    expect(inFront.asked).toEqual(['secure.invalid:443', 'wrong.invalid:443']);
    agent?.destroy();
    inFront.stop();
    server.close();
    server.closeAllConnections();
  });

  it('a redirect to a private name is refused before the proxy is asked', async () => {
    const redirected = await fixture.use('http_request', { method: 'GET', url: 'http://web.invalid/inside' });
    expect(redirected).toMatchObject({ success: false, error: expect.stringContaining('not a public name') });
    expect(proxy.asked).toEqual(['web.invalid:80']);
  });
});
