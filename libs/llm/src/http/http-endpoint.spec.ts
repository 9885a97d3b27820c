import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { HttpCall } from './http-call';
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

/** Hears a body to its end. */
async function bodyOf(call: HttpCall): Promise<string> {
  return (await call.reply).text(10_000);
}

const statusOf = async (call: HttpCall): Promise<number> => (await call.reply).status;

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

  const reply = await endpoint({ Authorization: 'Bearer x', 'User-Agent': 'me' }).post('{"ä":"🎼"}').reply;

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
  await bodyOf(same.post('{}'));
  handle = (request) => request.socket.resetAndDestroy();
  server.once('connection', () => (handle = echo));

  expect(await statusOf(same.post('{}'))).toBe(200);
  expect(connections).toHaveLength(2);

  handle = (request) => request.socket.resetAndDestroy();
  await expect(endpoint().post('{}').reply).rejects.toMatchObject({ code: 'ECONNRESET' });
});

it('does not follow a redirect: the key would go along', async () => {
  handle = (_request, response) => response.writeHead(307, { location: 'http://elsewhere.invalid/' }).end();

  expect(await statusOf(endpoint().post('{}'))).toBe(307);
});

it('closes the connection of a call that is cut, before the answer and in the middle of it', async () => {
  const closed = () => once(connections.at(-1) ?? server, 'close');
  handle = () => before.cut();
  const before = endpoint().post('{}');
  await expect(before.reply).rejects.toThrow();
  await closed();

  handle = (_request, response) => response.write('begun');
  const during = endpoint().post('{}');
  const text = bodyOf(during);
  (await during.reply).listen({ piece: () => during.cut(), over: () => {} });
  await expect(text).rejects.toThrow();
  await closed();
});

it('leaves a connection alone that has gone on to another request when the first is cut', async () => {
  handle = echo;
  const same = endpoint();
  const first = same.post('{}');
  await bodyOf(first);
  await new Promise(setImmediate);

  const second = same.post('{}');
  first.cut();
  (await first.reply).close();

  expect(await statusOf(second)).toBe(200);
  expect(connections).toHaveLength(1);
});

it('tells a body that breaks off from one that ends', async () => {
  handle = (_request, response) => {
    response.write('half');
    setImmediate(() => response.socket?.resetAndDestroy());
  };

  const reply = await endpoint().post('{}').reply;
  const heard: string[] = [];
  const error = await new Promise((over) =>
    reply.listen({ piece: (bytes) => heard.push(Buffer.from(bytes).toString()), over }),
  );

  expect(heard).toEqual(['half']);
  expect(error).toMatchObject({ code: 'ECONNRESET' });
});

it('reads no more of a long text than was asked for', async () => {
  handle = (_request, response) => response.end('x'.repeat(1_000_000));

  const reply = await endpoint().post('{}').reply;

  expect(await reply.text(100)).toBe('x'.repeat(100));
});

it.each([
  ['https://a.example', 'https://a.example/v1/x'],
  ['https://a.example/base/', 'https://a.example/base/v1/x'],
])('puts a path behind %s', (base, url) => {
  expect(endpointUrl(base, '/v1/x').href).toBe(url);
});
