import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { ConsoleServer } from './console-server';
import { RecordingGateway } from './testing/recording-gateway';

const key = 'rondo_the_key';
const fromPage = { 'Sec-Fetch-Site': 'same-origin' };
type Headers = Readonly<Record<string, string>>;

let gateway: RecordingGateway;
let server: ConsoleServer;
beforeEach(async () => {
  gateway = await RecordingGateway.start();
  server = await ConsoleServer.start({ gateway: gateway.url, key, port: 0 });
});
afterEach(async () => {
  await server.close();
  await gateway.close();
});

const ask = (path: string, headers: Headers = {}, method = 'GET') =>
  request({ host: '127.0.0.1', port: new URL(server.url).port, path, method, headers, agent: false });

async function readAnswer(asked: ReturnType<typeof request>): Promise<IncomingMessage> {
  const [answer] = (await once(asked.end(), 'response')) as [IncomingMessage];
  return answer;
}

async function get(path: string, headers: Headers = {}, method = 'GET') {
  const answer = await readAnswer(ask(path, headers, method));
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

const open = (link: string, headers: Headers = {}) => get(link.slice(server.url.length), headers);

const toCookie = (headers: IncomingHttpHeaders): string => headers['set-cookie']?.[0]?.split(';')[0] ?? '';

async function signIn(): Promise<string> {
  return toCookie((await open(server.newLink())).headers);
}

describe('the link of `rondo console`', () => {
  it('signs one browser in, once', async () => {
    const link = server.newLink();
    const first = await open(link, { 'Sec-Fetch-Site': 'none' });
    const second = await open(link);

    expect(first).toMatchObject({ status: 303, headers: { location: '/console/' } });
    expect(first.headers['set-cookie']?.[0]).toMatch(/^rondo_console_\d+=\S{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(second).toMatchObject({ status: 401, body: expect.stringContaining('used before') });
    expect(await open(server.newLink())).toMatchObject({ status: 303 });
    expect(gateway.requests).toEqual([]);
  });

  it('does not work from a page of another origin, and is not used up by it', async () => {
    const link = server.newLink();
    expect(await open(link, { 'Sec-Fetch-Site': 'cross-site' })).toMatchObject({ status: 403 });
    expect(await open(link, { 'Sec-Fetch-Site': 'same-site' })).toMatchObject({ status: 403 });
    expect(await open(link)).toMatchObject({ status: 303 });
  });

  it('is no link any more after a sign-out', async () => {
    const cookie = await signIn();
    const { status, headers } = await get('/v1/session', { cookie, ...fromPage }, 'DELETE');

    expect({ status, cookie: headers['set-cookie']?.[0] }).toEqual({
      status: 204,
      cookie: expect.stringMatching(/^rondo_console_\d+=;.*Max-Age=0$/),
    });
    expect(await get('/v1/runs', { cookie, ...fromPage })).toMatchObject({ status: 401 });
    expect(gateway.requests).toEqual([]);
  });
});

describe('requests of a browser that has signed in', () => {
  it('get the key, and lose what is of this origin', async () => {
    const cookie = await signIn();
    const more = { cookie: `${cookie}; other=1`, authorization: 'Bearer another', origin: server.url };
    const { status, body } = await get(
      '/v1/runs?limit=2',
      { ...more, ...fromPage, 'X-Forwarded-For': '6.6.6.6' },
      'POST',
    );

    expect({ status, body }).toEqual({ status: 200, body: 'ok' });
    const { headers = {}, ...asked } = gateway.last ?? {};
    expect(asked).toEqual({ method: 'POST', url: '/v1/runs?limit=2' });
    expect(headers).toMatchObject({ authorization: `Bearer ${key}`, host: gateway.url.host });
    expect(Object.keys(headers).filter((name) => /^(cookie|origin|sec-|x-)/.test(name))).toEqual([]);
  });

  it('go to a gateway below a path', async () => {
    await server.close();
    server = await ConsoleServer.start({ gateway: new URL('below/it/', gateway.url), key, port: 0 });

    await get('/v1/runs', { cookie: await signIn() });

    expect(gateway.last).toMatchObject({ url: '/below/it/v1/runs' });
  });

  it.each(['/v1/../metrics', '/metrics', '/session/links', '/other', '//example.com/v1x', '/consoles', '/docsx'])(
    'get no key for %s',
    async (path) => {
      expect(await get(path, { cookie: await signIn(), ...fromPage })).toMatchObject({ status: 404 });
      expect(gateway.requests).toEqual([]);
    },
  );

  it('cannot exchange a key for a session of the gateway', async () => {
    const headers = { cookie: await signIn(), authorization: 'Bearer a', ...fromPage };
    expect(await get('/v1/session', headers, 'POST')).toMatchObject({
      status: 403,
      body: expect.stringContaining('The key is kept'),
    });
    expect(gateway.requests).toEqual([]);
  });
});

describe('requests that are refused', () => {
  const refused: [string, (cookie: string) => { headers: Headers; method?: string; status: number }][] = [
    ['without a cookie', () => ({ headers: fromPage, status: 401 })],
    ['with a guessed cookie', (cookie) => ({ headers: { cookie: `${cookie}x`, ...fromPage }, status: 401 })],
    ['with a second cookie of that name', (cookie) => ({ headers: { cookie: `${cookie}; ${cookie}` }, status: 401 })],
    ['of a name in the DNS that leads here', (cookie) => ({ headers: { cookie, host: 'evil.example' }, status: 403 })],
    ['of a page elsewhere', (cookie) => ({ headers: { cookie, 'Sec-Fetch-Site': 'cross-site' }, status: 403 })],
    ['of a page of another port', (cookie) => ({ headers: { cookie, 'Sec-Fetch-Site': 'same-site' }, status: 403 })],
    [
      'that write, opened directly',
      (cookie) => ({ headers: { cookie, 'Sec-Fetch-Site': 'none' }, method: 'POST', status: 403 }),
    ],
    ['that write, of an old browser', (cookie) => ({ headers: { cookie }, method: 'POST', status: 403 })],
    [
      'of another origin',
      (cookie) => ({ headers: { cookie, origin: 'http://127.0.0.1:1' }, method: 'POST', status: 403 }),
    ],
    ['of a page without an origin', (cookie) => ({ headers: { cookie, origin: 'null' }, method: 'POST', status: 403 })],
  ];

  it.each(refused)('%s', async (_, of) => {
    const { headers, method, status } = of(await signIn());
    expect(await get('/v1/runs', headers, method)).toMatchObject({
      status,
      headers: { 'content-type': 'application/problem+json' },
      body: expect.stringContaining('"detail"'),
    });
    expect(gateway.requests).toEqual([]);
  });

  it('of a host name that leads here, also for the page', async () => {
    expect(await get('/console/', { host: 'evil.example:3080' })).toMatchObject({ status: 403 });
    expect(gateway.requests).toEqual([]);
  });
});

describe('the pages of the console', () => {
  it('come from the gateway with its policy, without the key, and set no cookie', async () => {
    gateway.answer = (_, response) =>
      response
        .writeHead(200, {
          'Content-Security-Policy': "default-src 'none'",
          'Set-Cookie': 'a=1',
          'Strict-Transport-Security': 'max-age=9',
          'Access-Control-Allow-Origin': '*',
        })
        .end('<!doctype html>');
    const { status, headers, body } = await get('/console/runs/run_1', { 'Sec-Fetch-Site': 'cross-site' });

    expect({ status, body }).toEqual({ status: 200, body: '<!doctype html>' });
    expect(headers).toMatchObject({ 'content-security-policy': "default-src 'none'" });
    expect(Object.keys(headers).filter((name) => /^(set-|strict-|access-)/.test(name))).toEqual([]);
    expect(gateway.last?.headers).not.toHaveProperty('authorization');
  });

  it('say to a person that the gateway is away, and come when it is back', async () => {
    const { port } = gateway.url;
    await gateway.close();
    const away = await get('/console/', { accept: 'text/html' });
    expect(away).toMatchObject({
      status: 502,
      body: expect.stringMatching(/cannot be reached \(ECONN\w+\).*back\.\n$/),
    });
    const asked = await get('/v1/runs', { cookie: await signIn() });
    expect(JSON.parse(asked.body)).toMatchObject({ status: 502, code: 'gateway_unreachable' });

    gateway = await RecordingGateway.start(Number(port));
    expect(await get('/console/')).toMatchObject({ status: 200 });
  });
});

describe('a stream', () => {
  it('arrives piece by piece, its head before the first', async () => {
    let send = (_: string): void => undefined;
    gateway.answer = (_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
      send = (piece) => response.write(piece);
    };
    const answer = await readAnswer(ask('/v1/runs/run_1/stream', { cookie: await signIn() }));
    for (const piece of ['data: 1\n\n', 'data: 2\n\n']) {
      send(piece);
      expect(String(((await once(answer, 'data')) as [Buffer])[0])).toBe(piece);
    }
    answer.destroy();
  });

  it('is cut where the gateway is cut', async () => {
    gateway.answer = (_, response) => {
      response.writeHead(200).write('half', () => response.destroy());
    };
    const answer = await readAnswer(ask('/v1/runs/run_1/stream', { cookie: await signIn() }));
    await expect(text(answer)).rejects.toThrow('aborted');
  });

  it('is closed at the gateway when the page leaves', async () => {
    const closed = new Promise((resolve) => {
      gateway.answer = (_, response) => {
        response.writeHead(200).write('half');
        response.once('close', () => resolve(response.writableFinished));
      };
    });
    const answer = await readAnswer(ask('/v1/runs/run_1/stream', { cookie: await signIn() }));
    answer.destroy();
    expect(await closed).toBe(false);
  });

  it('ends with the command', async () => {
    gateway.answer = (_, response) => response.writeHead(200).write('half');
    const answer = await readAnswer(ask('/v1/runs/run_1/stream', { cookie: await signIn() }));
    const cut = expect(text(answer)).rejects.toThrow('aborted');
    await server.close();
    await cut;
    server = await ConsoleServer.start({ gateway: gateway.url, key, port: 0 });
  });
});

describe('a WebSocket', () => {
  const upgrade = (headers: Headers, path = '/socket.io/?EIO=4&transport=websocket') => {
    const asked = ask(path, { connection: 'Upgrade', upgrade: 'websocket', ...headers }).end();
    return Promise.race([
      once(asked, 'upgrade').then(([answer, socket]: unknown[]) => ({
        answer: answer as IncomingMessage,
        socket: socket as Duplex,
      })),
      once(asked, 'response').then(([answer]: unknown[]) => ({ answer: answer as IncomingMessage, socket: undefined })),
    ]);
  };

  it('goes through with the key, both ways', async () => {
    const { answer, socket } = await upgrade({ cookie: await signIn(), origin: server.url });
    socket?.write('ping');
    const [echo] = (await once(socket as Duplex, 'data')) as [Buffer];
    socket?.destroy();

    expect(answer.headers).toMatchObject({ 'x-of': 'gateway' });
    expect(String(echo)).toBe('ping');
    expect(gateway.last).toMatchObject({ headers: { authorization: `Bearer ${key}`, upgrade: 'websocket' } });
    expect(gateway.last?.headers).not.toHaveProperty('cookie');
  });

  it('ends with the command', async () => {
    const { socket } = await upgrade({ cookie: await signIn(), origin: server.url });
    const closed = once(socket as Duplex, 'close');
    await server.close();
    await closed;
    server = await ConsoleServer.start({ gateway: gateway.url, key, port: 0 });
  });

  it.each([
    ['of another origin', { origin: 'http://127.0.0.1:1' }],
    ['of no origin', {}],
    ['of a host name that leads here', { origin: 'http://evil.example', host: 'evil.example' }],
    ['without a cookie', { cookie: '', ...fromPage }],
  ])('%s is refused', async (_, headers) => {
    const { answer } = await upgrade({ cookie: await signIn(), ...headers });
    expect(answer.statusCode).toBe(403);
    expect(gateway.requests).toEqual([]);
  });
});
