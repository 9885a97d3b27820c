import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { HttpEndpoint, endpointUrl } from './http-endpoint';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let handle: Handler;
let connections: Socket[];

beforeEach(async () => {
  connections = [];
  server = createServer((request, response) => handle(request, response));
  server.on('connection', (socket) => connections.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const never = new AbortController().signal;
const endpoint = (headers = {}) =>
  new HttpEndpoint(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/ask?a=b`), headers);

const echo: Handler = (request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (piece: string) => (body += piece));
  request.on('end', () => response.end(JSON.stringify({ url: request.url, headers: request.headers, body })));
};

it('posts JSON in any letters, with its own headers in front of ours', async () => {
  handle = echo;

  const reply = await endpoint({ Authorization: 'Bearer x', 'User-Agent': 'me' }).post('{"ä":"🎼"}', never);

  expect(reply.status).toBe(200);
  expect(JSON.parse(await reply.text(10_000))).toMatchObject({
    url: '/v1/ask?a=b',
    body: '{"ä":"🎼"}',
    headers: { authorization: 'Bearer x', 'user-agent': 'me', 'content-type': 'application/json' },
  });
});

it('asks anew where a kept connection turns out to be closed, and only there', async () => {
  handle = echo;
  const same = endpoint();
  const first = await same.post('{}', never);
  await first.text(10_000);
  handle = (request) => request.socket.resetAndDestroy();
  server.once('connection', () => (handle = echo));

  expect((await same.post('{}', never)).status).toBe(200);
  expect(connections).toHaveLength(2);

  handle = (request) => request.socket.resetAndDestroy();
  await expect(endpoint().post('{}', never)).rejects.toMatchObject({ code: 'ECONNRESET' });
});

it('does not follow a redirect: the key would go along', async () => {
  handle = (_request, response) => response.writeHead(307, { location: 'http://elsewhere.invalid/' }).end();

  expect((await endpoint().post('{}', never)).status).toBe(307);
});

it('closes the connection on an abort, before the answer and in the middle of it', async () => {
  const closed = () => once(connections.at(-1) ?? server, 'close');
  const before = new AbortController();
  handle = () => before.abort();
  await expect(endpoint().post('{}', before.signal)).rejects.toThrow();
  await closed();

  const during = new AbortController();
  handle = (_request, response) => response.write('begun');
  const reply = await endpoint().post('{}', during.signal);
  await reply.read();
  during.abort();
  await expect(reply.read()).rejects.toThrow();
  await closed();
});

it('leaves a connection alone that has gone on to another request when the first is aborted', async () => {
  handle = echo;
  const same = endpoint();
  const late = new AbortController();
  const first = await same.post('{}', late.signal);
  await first.text(10_000);
  await new Promise(setImmediate);

  const second = same.post('{}', never);
  late.abort();
  first.close();

  expect((await second).status).toBe(200);
  expect(connections).toHaveLength(1);
});

it('tells a body that breaks off from one that ends', async () => {
  handle = (_request, response) => {
    response.write('half');
    setImmediate(() => response.socket?.resetAndDestroy());
  };

  const reply = await endpoint().post('{}', never);

  expect(Buffer.from((await reply.read()) ?? []).toString()).toBe('half');
  await expect(reply.read()).rejects.toThrow();
});

it('reads no more of a long text than was asked for', async () => {
  handle = (_request, response) => response.end('x'.repeat(1_000_000));

  const reply = await endpoint().post('{}', never);

  expect(await reply.text(100)).toBe('x'.repeat(100));
});

it.each([
  ['https://a.example', 'https://a.example/v1/x'],
  ['https://a.example/base/', 'https://a.example/base/v1/x'],
])('puts a path behind %s', (base, url) => {
  expect(endpointUrl(base, '/v1/x').href).toBe(url);
});
