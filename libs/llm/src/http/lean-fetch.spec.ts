import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { HttpReply } from './http-reply';
import { createFetch } from './lean-fetch';

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

/** Reads a body to its end. */
async function readBody(call: Call): Promise<string> {
  return (await call.reply).text(10_000);
}

interface Call {
  readonly reply: Promise<HttpReply>;
  abort(): void;
}

const readStatus = async (call: Call): Promise<number> => (await call.reply).status;

/** Posts over connections of its own. */
function endpoint(headers = {}, url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/ask?a=b`) {
  const fetch = createFetch();
  const post = (body: string): Call => {
    const calling = new AbortController();
    const reply = fetch(url, { method: 'POST', headers, body, signal: calling.signal }).then(({ body: read }) => {
      if (!((read as unknown) instanceof HttpReply)) throw new Error('not read by us');
      return read as unknown as HttpReply;
    });
    return { reply, abort: () => calling.abort() };
  };
  return { post };
}

const echo: Handler = (request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (piece: string) => (body += piece));
  request.on('end', () => response.end(JSON.stringify({ url: request.url, headers: request.headers, body })));
};

it('posts text in any script, with the headers as given and no other', async () => {
  handle = echo;

  const reply = await endpoint({ Authorization: 'Bearer x' }).post('{"ä":"🎼"}').reply;

  expect(reply.status).toBe(200);
  expect(JSON.parse(await reply.text(10_000))).toMatchObject({
    url: '/v1/ask?a=b',
    body: '{"ä":"🎼"}',
    headers: { authorization: 'Bearer x' },
  });
});

const waysToClose: [string, Handler][] = [
  ['reset', (request) => request.socket.resetAndDestroy()],
  ['closed in order', (request) => request.socket.end()],
];
it.each(waysToClose)(
  'sends the request again when a kept connection is %s instead of an answer, and not on a new connection',
  async (_, close) => {
    handle = echo;
    const same = endpoint();
    await readBody(same.post('{}'));
    handle = close;
    server.once('connection', () => (handle = echo));

    expect(await readStatus(same.post('{}'))).toBe(200);
    expect(connections).toHaveLength(2);

    handle = close;
    await expect(endpoint().post('{}').reply).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
  },
);

it('rejects with the system error when no server listens', async () => {
  const { reply } = endpoint({}, 'http://127.0.0.1:1/').post('{}');

  await expect(reply).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});

it('waits for the final response after an interim one', async () => {
  handle = (_request, response) => {
    response.writeProcessing();
    response.end('whole');
  };

  const reply = await endpoint().post('{}').reply;

  expect(reply.status).toBe(200);
  expect(await reply.text(10_000)).toBe('whole');
});

it('does not follow a redirect, which would be sent the key', async () => {
  handle = (_request, response) => response.writeHead(307, { location: 'http://elsewhere.invalid/' }).end();

  expect(await readStatus(endpoint().post('{}'))).toBe(307);
});

it('closes the connection of an aborted call, before and during the response', async () => {
  const closed = () => once(connections.at(-1) ?? server, 'close');
  handle = () => before.abort();
  const before = endpoint().post('{}');
  await expect(before.reply).rejects.toThrow();
  await closed();

  handle = (_request, response) => response.write('begun');
  const during = endpoint().post('{}');
  const reply = await during.reply;
  const error = await new Promise((onEnd) => reply.read({ onData: () => reply.close(), onEnd }));
  expect(error).toBeInstanceOf(Error);
  await closed();
});

it('sends nothing for a call that is aborted before it has a connection', async () => {
  const received: string[] = [];
  handle = (request, response) => {
    request.on('data', (body: Buffer) => received.push(body.toString()));
    request.on('end', () => response.end());
  };
  const same = endpoint();

  const first = same.post('first');
  first.abort();
  await expect(first.reply).rejects.toThrow();
  await readBody(same.post('second'));

  expect(received).toEqual(['second']);
});

it('does not close a connection that carries another request when the first is aborted', async () => {
  handle = echo;
  const same = endpoint();
  const first = same.post('{}');
  await readBody(first);
  await new Promise(setImmediate);

  const second = same.post('{}');
  first.abort();
  (await first.reply).close();

  expect(await readStatus(second)).toBe(200);
  expect(connections).toHaveLength(1);
});

const waysToBreakOff: [string, Record<string, string>, (socket: Socket) => unknown][] = [
  ['is reset', {}, (socket) => socket.resetAndDestroy()],
  ['is closed in order', {}, (socket) => socket.end()],
  ['is closed before the announced length', { 'content-length': '5' }, (socket) => socket.end()],
];
it.each(waysToBreakOff)('reports a body whose connection %s as incomplete', async (_, headers, close) => {
  handle = (_request, response) => {
    response.writeHead(200, headers).write('half');
    setImmediate(() => response.socket && close(response.socket));
  };

  const reply = await endpoint().post('{}').reply;
  const received: string[] = [];
  const error = await new Promise((onEnd) =>
    reply.read({ onData: (bytes) => received.push(Buffer.from(bytes).toString()), onEnd }),
  );

  expect(received).toEqual(['half']);
  expect(error).toMatchObject({ code: 'ECONNRESET' });
});

it('reads nothing while it is paused, and the rest when it is resumed', async () => {
  const total = 32_000_000;
  handle = (_request, response) => response.end('x'.repeat(total));
  const same = endpoint();
  const reply = await same.post('{}').reply;
  let received = 0;
  const whole = new Promise((onEnd) =>
    reply.read({
      onData: (bytes) => {
        if (received === 0) reply.pause();
        received += bytes.length;
      },
      onEnd,
    }),
  );

  handle = echo;
  let before: number;
  do {
    before = received;
    await readBody(same.post('{}'));
  } while (received > before);
  expect(received).toBeLessThan(total);

  reply.resume();
  expect(received).toBe(before);
  expect(await whole).toBeUndefined();
  expect(received).toBe(total);
});

it('reads a long text only up to the given limit', async () => {
  handle = (_request, response) => response.end('x'.repeat(1_000_000));

  const reply = await endpoint().post('{}').reply;

  expect(await reply.text(100)).toBe('x'.repeat(100));
});
