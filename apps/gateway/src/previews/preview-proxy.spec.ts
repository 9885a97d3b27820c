import { once } from 'node:events';
import { type IncomingMessage, type RequestListener, type Server, createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { previewLabel } from '@rondo/messaging';
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
async function proxyTo(server: Server, { refusal }: { refusal?: ApiError } = {}): Promise<number> {
  const port = await listening(server);
  const proxy = new PreviewProxy({
    template: `http://*.${domain}`,
    connect: () => (refusal ? Promise.reject(refusal) : Promise.resolve(connect(port, '127.0.0.1'))),
    log: { warn: () => undefined },
    answerWithinMs: 50,
  });
  const gateway = createServer((_, response) => response.end('the API'));
  proxy.attach(gateway);
  return listening(gateway);
}

const ask = (port: number, headers: Record<string, string> = {}) =>
  request({ host: '127.0.0.1', port, headers: { host, ...headers } }).end();
const upgrade = { connection: 'Upgrade', upgrade: 'echo' };

async function answered(port: number, headers: Record<string, string> = {}) {
  const [message] = (await once(ask(port, headers), 'response')) as [IncomingMessage];
  const body = await text(message);
  return { status: message.statusCode, type: message.headers['content-type'], body };
}

const silent: RequestListener = () => undefined;
const serverOf = (listener: RequestListener) => createServer(listener);
const echo = () =>
  serverOf(silent).on('upgrade', (_, socket: Duplex) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\nX-One: 1\r\n\r\nfirst ');
    socket.pipe(socket);
  });

describe('a preview', () => {
  it.each([
    ['a request', {}],
    ['an upgrade', upgrade],
  ])('gives up a server that does not begin its answer: %s', async (_, headers) => {
    const port = await proxyTo(serverOf(silent).on('upgrade', silent));
    const { status, type, body } = await answered(port, headers);
    expect([status, type]).toEqual([504, 'application/problem+json']);
    expect(JSON.parse(body)).toMatchObject({ code: 'preview_timeout' });
  });

  it('waits for a server that has begun its answer', async () => {
    const port = await proxyTo(
      serverOf((_, response) => {
        response.write('begun ');
        setTimeout(() => response.end('and ended'), 100);
      }),
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

  it.each([
    ['a request', {}],
    ['an upgrade', upgrade],
  ])('answers what the server answers, or the gateway refuses: %s', async (_, headers) => {
    const plain = serverOf((_request, response) => response.writeHead(418).end('no socket here'));
    plain.on('upgrade', (_request, socket: Duplex) => {
      socket.end('HTTP/1.1 418 No\r\nContent-Length: 14\r\n\r\nno socket here');
    });
    expect(await answered(await proxyTo(plain), headers)).toMatchObject({ status: 418, body: 'no socket here' });

    const refusal = new ApiError('preview_not_found', 'There is no such preview.');
    const { status, body } = await answered(await proxyTo(serverOf(silent), { refusal }), headers);
    expect([status, JSON.parse(body)]).toMatchObject([404, { code: 'preview_not_found' }]);
  });
});
