import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type RondoClient, type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { startAdjusted, newAccount } from '../shared-deployment';

/** Answers with what it was asked, and echoes upgraded connections. */
const server = `
const { createServer } = require('node:http');
createServer((request, response) => {
  let body = '';
  request.on('data', (part) => (body += part)).on('end', () => {
    response.setHeader('x-path', request.url);
    response.end(JSON.stringify({ method: request.method, body, headers: request.headers }));
  });
}).on('upgrade', (request, socket) => {
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nconnection: upgrade\\r\\nupgrade: echo\\r\\n\\r\\n');
  socket.pipe(socket);
}).listen(8080, '127.0.0.1', () => console.log('listening'));
`;

interface PublishedSite {
  readonly thread_id: string;
  readonly name: string;
  readonly url: string;
}

describe('a server in a sandbox that a run publishes', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let url: URL;
  let site: URL;
  let threadId: string;

  beforeAll(async () => {
    rondo = await startAdjusted();
    client = await newAccount(rondo);
    const turns = [
      { calls: [call('create_file', { file_path: 'server.cjs', file_contents: server })] },
      { calls: [call('expose_port', { port: 8080 })] },
      { calls: [command('node server.cjs > log 2>&1 & until grep -q listening log; do sleep 0.05; done')] },
      { calls: [call('expose_port', { port: 8080 })] },
      { calls: [call('create_file', { file_path: 'site/index.html', file_contents: '<h1>Static</h1>' })] },
      { calls: [call('deploy', { directory_path: 'site' })] },
      { calls: [call('deploy', { directory_path: 'site', name: 'spare' })] },
      { text: 'Published.' },
    ];
    const { id, thread_id } = await client.createRun({
      tools: ['create_file', 'execute_command', 'expose_port', 'deploy'],
      ...scriptInput('publish', turns),
    });
    expect((await client.waitForRun(id)).status).toBe('completed');
    const { data } = await client.json<{ data: { result: { success: boolean; output: string; error?: string } }[] }>(
      'GET',
      `/runs/${id}/tool-calls`,
    );
    expect(data[1]?.result).toMatchObject({ success: false, error: expect.stringContaining('Nothing listens') });
    url = new URL((JSON.parse(data[3]?.result.output ?? '{}') as { url: string }).url);
    site = new URL((JSON.parse(data[5]?.result.output ?? '{}') as { url: string }).url);
    threadId = thread_id;
  });

  /** Node does not look for `*.localhost` on this machine by itself, as browsers do. */
  function ask(path: string, { host = url.host, ...options }: Record<string, unknown> & { host?: string } = {}) {
    return request({
      host: '127.0.0.1',
      port: url.port,
      path,
      ...options,
      headers: { host, ...(options['headers'] as object) },
    });
  }

  async function answerTo(path: string, options: Parameters<typeof ask>[1] = {}, body = '') {
    const outgoing = ask(path, options);
    outgoing.end(body);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  }

  it('answers requests at an origin of its own', async () => {
    const { status, headers, body } = await answerTo(
      '/a?b=1',
      { method: 'POST', headers: { 'x-mine': 'yes' } },
      'hello',
    );

    expect(status).toBe(200);
    expect(headers['x-path']).toBe('/a?b=1');
    expect(JSON.parse(body)).toMatchObject({
      method: 'POST',
      body: 'hello',
      headers: { 'x-mine': 'yes', host: 'localhost:8080', 'x-forwarded-host': url.host, 'x-forwarded-proto': 'http' },
    });
    expect(url.hostname.endsWith('.localhost')).toBe(true);
  });

  it('answers many requests at once', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => answerTo(`/${n}`)));
    expect(answers.map(({ status, headers }) => [status, headers['x-path']])).toEqual(
      Array.from({ length: 40 }, (_, n) => [200, `/${n}`]),
    );
  });

  it('speaks WebSocket and other upgraded protocols', async () => {
    const outgoing = ask('/socket', { headers: { connection: 'upgrade', upgrade: 'echo' } });
    outgoing.end();
    const [, socket] = (await once(outgoing, 'upgrade')) as [IncomingMessage, import('node:stream').Duplex];
    socket.write('ping');
    const [echoed] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(echoed.toString()).toBe('ping');
  });

  it('is no way into the API, and the API is none into it', async () => {
    const asApi = await answerTo('/v1/runs', { headers: { authorization: `Bearer ${client.key}` } });
    expect(asApi.headers['x-path']).toBe('/v1/runs');
    const { status } = await fetch(`${client.url}/health/live`);
    expect(status).toBe(200);
  });

  it('attack: a guessed token, another port or another thread is refused', async () => {
    const [label = ''] = url.host.split('.');
    const [, ulid = '', token = ''] = label.split('-');
    const rest = url.host.slice(label.length);
    const other = `${token.startsWith('0') ? '1' : '0'}${token.slice(1)}`;
    const stranger = (await client.json<{ id: string }>('POST', '/threads', {})).id.slice('thr_'.length).toLowerCase();
    expect(ulid).toBe(threadId.slice('thr_'.length).toLowerCase());

    for (const guess of [`p8080-${ulid}-${other}`, `p22-${ulid}-${token}`, `p8080-${stranger}-${token}`]) {
      const { status, body } = await answerTo('/', { host: `${guess}${rest}` });
      expect([guess, status, JSON.parse(body)]).toMatchObject([guess, 404, { code: 'preview_not_found' }]);
    }
    const { status } = await answerTo('/nothing', { host: `x${rest}` }); // not a preview: the gateway's own paths
    expect(status).toBe(404);
  });

  it('is gone with its sandbox', async () => {
    const [sandbox] = (
      await client.json<{ data: { id: string; thread_id: string }[] }>('GET', '/sandboxes')
    ).data.filter(({ thread_id }) => thread_id === threadId);
    await client.json('POST', `/sandboxes/${sandbox?.id}/stop`);
    expect((await answerTo('/')).status).toBe(502);
  });

  it('leaves static sites, which its account lists, reads and takes down', async () => {
    const { data, complete } = await client.json<{ data: PublishedSite[]; complete: boolean }>('GET', '/sites');
    const about = { thread_id: threadId, files: 1, bytes: 15, published_at: expect.any(String) };
    expect([complete, data]).toEqual([
      true,
      [
        { ...about, name: 'site', url: site.href.replace(/\/$/, '') },
        { ...about, name: 'spare', url: expect.any(String) },
      ],
    ]);

    const path = `/threads/${threadId}/sites/spare`;
    const spare = await client.json<PublishedSite>('GET', path);
    const asked = { host: new URL(spare.url).host, headers: { range: 'bytes=4-9' } };
    const part = await answerTo('/', asked);
    expect([part.status, part.headers['content-range'], part.body]).toEqual([206, 'bytes 4-9/15', 'Static']);

    await client.request('DELETE', path);
    expect((await answerTo('/', asked)).status).toBe(404);
    expect((await client.json<{ data: PublishedSite[] }>('GET', `/sites?thread_id=${threadId}`)).data).toMatchObject([
      { name: 'site' },
    ]);
  });

  it('leaves a static site, which goes with its thread', async () => {
    const asked = { host: site.host };
    const { status, headers, body } = await answerTo('/', asked);
    expect([status, body]).toEqual([200, '<h1>Static</h1>']);
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'x-content-type-options': 'nosniff' });
    expect(site.hostname).not.toBe(url.hostname);
    expect(await answerTo('/../../etc/passwd', asked)).toMatchObject({ status: 404 });

    const executor = rondo.services.get('tool-executor');
    await executor.kill();
    await executor.start();
    expect((await answerTo('/', asked)).body).toBe('<h1>Static</h1>');

    await client.request('DELETE', `/threads/${threadId}`);
    const deadline = performance.now() + 10_000;
    while ((await answerTo('/', asked)).status !== 404) {
      expect(performance.now()).toBeLessThan(deadline);
      await delay(50);
    }
  });
});
