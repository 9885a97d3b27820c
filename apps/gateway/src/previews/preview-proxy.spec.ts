import { once } from 'node:events';
import {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  createServer,
  request,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { previewLabel } from '@rondo/messaging';
import { HttpAdapter } from '../http/http-adapter';
import { ApiError } from '../problems/api-error';
import { PreviewProxy } from './preview-proxy';

const domain = 'preview.example';
const host = `${previewLabel({ threadId: `thr_${'0'.repeat(26)}`, port: 3000, token: 'a'.repeat(20) })}.${domain}`;

const opened: Server[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) server.close().closeAllConnections();
});

async function listening(server: Server): Promise<number> {
  opened.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** A gateway's server with previews, all of which lead to this server in a sandbox. */
async function proxyTo(
  server: Server,
  { refusal, answerWithinMs = 60_000 }: { refusal?: ApiError; answerWithinMs?: number } = {},
): Promise<number> {
  const port = await listening(server);
  const proxy = new PreviewProxy({
    template: `http://*.${domain}`,
    connect: () => (refusal ? Promise.reject(refusal) : Promise.resolve(connect(port, '127.0.0.1'))),
    isOwnSecret: (text) => text.startsWith('rondo_'),
    log: { warn: () => undefined },
    answerWithinMs,
  });
  const adapter = new HttpAdapter();
  adapter.initHttpServer();
  adapter.use((_: IncomingMessage, response: ServerResponse) => response.end('the API'));
  const gateway: Server = adapter.getHttpServer();
  gateway.on('upgrade', (_, socket: Duplex) => socket.destroy());
  proxy.attach(gateway);
  return listening(gateway);
}

const ask = (port: number, headers: Record<string, string | string[]> = {}) =>
  request({ host: '127.0.0.1', port, headers: { host, ...headers } }).end();
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const upgrade = { connection: 'Upgrade', upgrade: 'echo' };

async function answered(port: number, headers: Record<string, string> = {}) {
  const [message] = (await once(ask(port, headers), 'response')) as [IncomingMessage];
  const body = await text(message);
  return { status: message.statusCode, type: message.headers['content-type'], body };
}

const silent: RequestListener = () => undefined;
const toServer = (listener: RequestListener) => createServer(listener);
const echo = () =>
  toServer(silent).on('upgrade', (_, socket: Duplex) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\nX-One: 1\r\n\r\nfirst ');
    socket.pipe(socket);
  });

describe('a preview', () => {
  it.each([
    ['a request', {}],
    ['an upgrade', upgrade],
  ])('gives up a server that does not begin its answer: %s', async (_, headers) => {
    const port = await proxyTo(toServer(silent).on('upgrade', silent), { answerWithinMs: 50 });
    const { status, type, body } = await answered(port, headers);
    expect([status, type]).toEqual([504, 'application/problem+json']);
    expect(JSON.parse(body)).toMatchObject({ code: 'preview_timeout' });
  });

  it('waits for a server that has begun its answer', async () => {
    const port = await proxyTo(
      toServer((_, response) => {
        response.write('begun ');
        setTimeout(() => response.end('and ended'), 1_200);
      }),
      { answerWithinMs: 1_000 },
    );
    expect(await answered(port)).toMatchObject({ status: 200, body: 'begun and ended' });
  });

  it('carries an upgraded connection, with the headers of the server', async () => {
    const port = await proxyTo(echo());
    const [message, socket, head] = (await once(ask(port, upgrade), 'upgrade')) as [IncomingMessage, Duplex, Buffer];
    expect(message.headers).toMatchObject({ upgrade: 'echo', 'x-one': '1' });
    socket.write('second');
    let seen = head.toString();
    while (seen !== 'first second') seen += String(((await once(socket, 'data')) as [Buffer])[0]);
    socket.destroy();
  });

  it('is asked without an upgrade to HTTP/2, which would cost the body of the request', async () => {
    const seen: unknown[] = [];
    const server = toServer((incoming, response) => {
      seen.push(incoming.headers.upgrade, incoming.headers.connection);
      incoming.pipe(response);
    });
    const port = await proxyTo(server.on('upgrade', (_, socket: Duplex) => socket.destroy()));
    const headers = { host, connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAEAAEAA' };

    const posted = request({ host: '127.0.0.1', port, method: 'POST', headers }).end('a body');

    const [message] = (await once(posted, 'response')) as [IncomingMessage];
    expect(await text(message)).toBe('a body');
    expect(seen).toEqual([undefined, 'close']);
  });

  it.each([
    ['http://localhost:3000/docs/', `http://${host}:8080/docs/`],
    ['HTTPS://LOCALHOST:3000', `http://${host}:8080`],
    ['//localhost:3000?a=http://localhost:3000/', `http://${host}:8080?a=http://localhost:3000/`],
    ...['/docs/', 'docs', 'http://localhost:3001/', 'http://localhost/', 'https://example.org/', '//[x'].map((same) => [
      same,
      same,
    ]),
  ])('sends visitors on to itself, not to their own machine: %s', async (location, sent) => {
    const port = await proxyTo(toServer((_, response) => response.writeHead(302, { location }).end()));

    const [message] = (await once(ask(port, { host: `${host}:8080` }), 'response')) as [IncomingMessage];

    message.resume();
    expect(message.headers.location).toBe(sent);
  });

  it.each([
    ['a request', {}],
    ['an upgrade', upgrade],
  ])('answers what the server answers, or the gateway refuses: %s', async (_, headers) => {
    const plain = toServer((_request, response) => response.writeHead(418).end('no socket here'));
    plain.on('upgrade', (_request, socket: Duplex) => {
      socket.end('HTTP/1.1 418 No\r\nContent-Length: 14\r\n\r\nno socket here');
    });
    expect(await answered(await proxyTo(plain), headers)).toMatchObject({ status: 418, body: 'no socket here' });

    const refusal = new ApiError('preview_not_found', 'There is no such preview.');
    const { status, body } = await answered(await proxyTo(toServer(silent), { refusal }), headers);
    expect([status, JSON.parse(body)]).toMatchObject([404, { code: 'preview_not_found' }]);
  });

  it.each(['x', 'www', 'a.b', host.replace('.', '.x.'), 'p3000-x-y'].map((name) => name.replace(`.${domain}`, '')))(
    'has no other name below its domain: %s',
    async (name) => {
      const port = await proxyTo(toServer((_, response) => response.end('the sandbox')));
      const named = { host: `${name}.${domain}:8080` };
      expect(await answered(port, named)).toMatchObject({ status: 404, type: 'application/problem+json' });
      expect(await answered(port, { ...named, ...upgrade })).toMatchObject({ status: 404 });
    },
  );

  it('is at its name with any port and case; all other hosts are for the API', async () => {
    const port = await proxyTo(toServer((_, response) => response.end('the sandbox')));
    expect((await answered(port, { host: `${host.toUpperCase()}:8080` })).body).toBe('the sandbox');
    for (const other of [domain, `x${domain}`, 'localhost', ''])
      expect((await answered(port, { host: other })).body).toBe('the API');
  });

  it('gets all other credentials of its visitors', async () => {
    const port = await proxyTo(
      toServer(({ headers }, response) =>
        response.end(JSON.stringify([headers.authorization, headers.cookie, headers['x-api-key']])),
      ),
    );
    const [cookie, apiKey] = ['sid=1; rondo=2', 'sk-other'];
    for (const authorization of ['Bearer other', basic('ada:rondo'), 'Digest username="a", realm="b"'])
      expect(JSON.parse((await answered(port, { authorization, cookie, 'x-api-key': apiKey })).body)).toEqual([
        ...[authorization, cookie, apiKey],
      ]);
  });
});

describe('attack: previews', () => {
  it('set cookies for the whole domain of previews', async () => {
    const sent = [
      'a=1; Domain=preview.example; Path=/',
      'b=domain; Secure;DOMAIN = .preview.example',
      'c=2; domain',
      'd=3; Path=/domain=x',
    ];
    const left = ['a=1; Path=/', 'b=domain; Secure', 'c=2', 'd=3; Path=/domain=x'];
    const server = toServer((_, response) => response.setHeader('Set-Cookie', sent).end());
    const lines = sent.map((cookie) => `set-cookie: ${cookie}\r\n`).join('');
    server.on('upgrade', (_, socket: Duplex) => {
      socket.end(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n${lines}\r\n`);
    });
    const port = await proxyTo(server);
    const [message] = (await once(ask(port), 'response')) as [IncomingMessage];
    const [upgraded, socket] = (await once(ask(port, upgrade), 'upgrade')) as [IncomingMessage, Duplex];
    message.resume();
    socket.destroy();
    expect([message.headers['set-cookie'], upgraded.headers['set-cookie']]).toEqual([left, left]);
  });

  const session = 'rondo_session=s; __Host-rondo_session=t';

  it.each([
    ['the session of a browser', { cookie: `a=1; ${session}; b=rondo_session` }, { cookie: 'a=1; b=rondo_session' }],
    ['the session alone', { cookie: session }, {}],
    ['an API key', { authorization: 'Bearer rondo_key', cookie: 'a=1' }, { cookie: 'a=1' }],
    ['an API key without a scheme', { authorization: 'rondo_key' }, {}],
    ['an API key of a façade', { 'x-api-key': 'rondo_key', cookie: 'a=1' }, { cookie: 'a=1' }],
    ['an API key as a password', { authorization: basic('admin:rondo_key') }, {}],
    ['credentials of a proxy', { 'proxy-authorization': 'Basic x' }, {}],
  ])('get %s of their visitors', async (_, sent, left) => {
    const seen: unknown[] = [];
    const note = ({ headers }: IncomingMessage) => {
      const names = ['cookie', 'authorization', 'x-api-key', 'proxy-authorization'];
      seen.push(
        Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]))),
      );
    };
    const server = toServer((request, response) => {
      note(request);
      response.end();
    });
    server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
      note(request);
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
    const port = await proxyTo(server);
    await answered(port, sent);
    await answered(port, { ...sent, ...upgrade });
    expect(seen).toEqual([left, left]);
  });
});
