import type { ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ExecutorClosing } from '../tool-handler';
import { EffectServer } from '../../testing/effect-server';
import { ExecutorFixture, aCall } from '../../testing/executor-fixture';

const redirectTo = (location: string) => (response: ServerResponse) => response.writeHead(302, { location }).end();

describe('http_request', () => {
  let elsewhere: EffectServer;
  let server: EffectServer;
  let fixture: ExecutorFixture;
  let lonely: number;
  const routes: Record<string, (response: ServerResponse) => void> = {
    '/order': (response) => response.writeHead(201, { location: '/order/1', 'x-secret': 'no' }).end('{"id":1}'),
    '/broken': (response) => response.writeHead(500).end('out of paper'),
    '/drop': (response) => response.destroy(),
    '/silent': () => undefined,
    '/slow': (response) => void setTimeout(() => response.end('at last'), 3_000).unref(),
    '/half': (response) => {
      response.writeHead(201, { 'content-length': 1_000 });
      response.write('the first half', () => response.destroy());
    },
    '/image': (response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([137, 80, 0, 255])),
    '/latin': (response) =>
      response.writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' }).end(Buffer.from('Grüße', 'latin1')),
    '/long': (response) => response.end(`begin ${'x'.repeat(100_000)} end`),
    '/huge': (response) => response.end('€'.repeat(1_000_000)),
    '/hop': redirectTo('/order'),
    '/loop': redirectTo('/loop'),
    '/file': redirectTo('file:///etc/passwd'),
    '/metadata': redirectTo('http://169.254.169.254/latest/meta-data/'),
  };
  const request = (method: string, path: string, more: Record<string, unknown> = {}) =>
    aCall('http_request', { method, url: server.url(path), ...more });

  beforeAll(async () => {
    elsewhere = await EffectServer.open();
    const closed = await EffectServer.open();
    lonely = closed.port;
    await closed.close();
    routes['/elsewhere'] = redirectTo(elsewhere.url('/there'));
    routes['/sideways'] = redirectTo(`http://localhost:${elsewhere.port}/`);
    server = await EffectServer.open(routes);
    const internalHosts = [server.internal, elsewhere.internal, `127.0.0.1:${lonely}`];
    fixture = await ExecutorFixture.open({ egress: { policy: 'none', internalHosts } });
  });
  afterAll(async () => {
    await fixture.close();
    await server.close();
    await elsewhere.close();
  });
  beforeEach(() => {
    server.received.length = 0;
    elsewhere.received.length = 0;
  });

  describe('an answer', () => {
    it('is shown with its status, the headers that matter and its body', async () => {
      const { result } = await answered(request('POST', '/order', { body: '{}' }));

      expect(result).toEqual({ success: true, output: 'HTTP 201 Created\nlocation: /order/1\n\n{"id":1}' });
    });

    it('succeeds with any status', async () => {
      const { result } = await answered(request('POST', '/broken'));

      expect(result).toEqual({ success: true, output: 'HTTP 500 Internal Server Error\n\nout of paper' });
    });

    it('reports a body that is not text, and decodes other charsets', async () => {
      expect((await answered(request('GET', '/image'))).result.output).toMatch(/\[4 bytes of image\/png, not shown/);
      expect((await answered(request('GET', '/latin'))).result.output).toMatch(/Grüße$/);
      expect((await answered(request('HEAD', '/order'))).result.output).toBe('HTTP 201 Created\nlocation: /order/1');
    });

    it('is clipped like every other output, and not read to its end', async () => {
      const long = (await answered(request('GET', '/long'))).result;
      expect(long).toMatchObject({ truncated: true, output: expect.stringMatching(/begin x+[^]*left out[^]*x end$/) });

      const huge = (await answered(request('GET', '/huge'))).result;
      expect(huge).toMatchObject({ success: true, truncated: true });
      expect(huge.output).toMatch(
        /^HTTP 200 OK\n\[the body is not whole: only the first 1048576 bytes were read]\n\n€/,
      );
    });

    it('counts as answered once there is a status, although the body breaks off', async () => {
      const { result } = await answered(request('POST', '/half'));

      expect(result).toMatchObject({ success: true, truncated: true, output: expect.stringContaining('first half') });
      expect(result.output).toMatch(/^HTTP 201 Created\n\[the body is not whole: the connection ended/);
    });
  });

  describe('the idempotency key (I5)', () => {
    it.each(['POST', 'PATCH'])(
      'is sent with each %s: the id of the call, the same in every attempt',
      async (method) => {
        const call = request(method, '/order', { headers: { 'Idempotency-KEY': 'mine' }, body: 'x' });

        await fixture.reply(call);
        await fixture.reply({ ...call, attempt: 2 });

        expect(server.received.map(({ headers }) => headers['idempotency-key'])).toEqual([call.call_id, call.call_id]);
      },
    );

    it('is not sent with idempotent requests', async () => {
      for (const method of ['GET', 'PUT', 'DELETE']) await fixture.reply(request(method, '/order'));

      expect(server.received.map(({ headers }) => headers['idempotency-key'])).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    });
  });

  describe('a request without an answer', () => {
    it.each(['GET', 'PUT', 'POST'])('I5: has an unknown outcome once a %s has been sent', async (method) => {
      const reply = await fixture.reply(request(method, '/drop'));

      expect(reply).toEqual({ how: 'unknown', reason: expect.stringMatching(/^The request was sent, but no answer/) });
      expect(server.received).toHaveLength(1);
    });

    it('I5: has an unknown outcome at the timeout', async () => {
      const reply = await fixture.reply({ ...request('POST', '/silent'), timeout_ms: 300 });

      expect(reply).toEqual({ how: 'unknown', reason: expect.stringContaining('no answer within 0.3 s') });
    });

    it('I5: has an unknown outcome at the timeout, also when garbage is collected meanwhile', async () => {
      setFlagsFromString('--expose_gc');
      const collectGarbage = runInNewContext('gc') as () => void; // V8 gives it under this flag
      const collecting = setInterval(collectGarbage, 50);

      const reply = await fixture
        .reply({ ...request('POST', '/slow'), timeout_ms: 300 })
        .finally(() => clearInterval(collecting));

      expect(reply).toEqual({ how: 'unknown', reason: expect.stringContaining('no answer within 0.3 s') });
    });

    it('fails when nothing was sent', async () => {
      const unanswered = aCall('http_request', { method: 'POST', url: `http://127.0.0.1:${lonely}/` });
      expect((await answered(unanswered)).result).toMatchObject({
        success: false,
        error: expect.stringMatching(/^Nothing was sent to 127\.0\.0\.1:\d+: .*ECONNREFUSED/),
      });

      const noTls = aCall('http_request', { method: 'POST', url: `https://127.0.0.1:${server.port}/` });
      expect((await answered(noTls)).result).toMatchObject({ error: expect.stringMatching(/^Nothing was sent/) });
      expect(server.received).toEqual([]);
    });

    it('is cancelled when its run is stopped, and has an unknown outcome when the executor shuts down', async () => {
      for (const [reason, how] of [
        [new Error('stopped by the user'), 'stopped'],
        [new ExecutorClosing(), 'unknown'],
      ] as const) {
        const abort = new AbortController();
        routes['/abort'] = () => abort.abort(reason);
        expect(await fixture.reply(request('POST', '/abort'), { signal: abort.signal })).toMatchObject({ how });
      }
    });
  });

  describe('a redirect', () => {
    it('is followed by a GET, and reported', async () => {
      const { result } = await answered(request('GET', '/hop', { headers: { 'x-token': 't' } }));

      expect(result.output).toContain(`[after 1 redirects, from ${server.url('/order')}]`);
      expect(server.received.map(({ headers }) => headers['x-token'])).toEqual(['t', 't']);
    });

    it('does not send headers on to another origin', async () => {
      await answered(request('GET', '/elsewhere', { headers: { authorization: 'Bearer secret', cookie: 'a=b' } }));

      expect(elsewhere.received).toMatchObject([{ path: '/there' }]);
      expect(elsewhere.received[0]?.headers).toEqual({
        ...{ host: elsewhere.internal, connection: 'close' },
        ...{ 'user-agent': 'rondo', 'accept-encoding': 'identity' },
      });
    });

    it('is reported and not followed after a request that may have had an effect', async () => {
      expect((await answered(request('POST', '/hop'))).result.output).toBe('HTTP 302 Found\nlocation: /order');
      expect(server.received).toHaveLength(1);
    });

    it('is followed five times at most', async () => {
      expect((await answered(request('GET', '/loop'))).result.output).toMatch(/^HTTP 302 Found/);
      expect(server.received).toHaveLength(6);
    });

    it.each(['/metadata', '/file', '/sideways'])('is checked by the egress rules at each hop (%s)', async (path) => {
      expect((await answered(request('GET', path))).result.error).toMatch(/^Nothing was sent to /);
      expect(elsewhere.received).toEqual([]);
    });
  });

  it.each([
    ['Host', 'internal.example'],
    ['content-length', '0'],
    ['Transfer-Encoding', 'chunked'],
    ['x-split', 'a\r\nhost: b'],
    ['bad name', 'x'],
  ])('refuses the header %s', async (name, value) => {
    expect((await answered(request('GET', '/', { headers: { [name]: value } }))).result.success).toBe(false);
    expect(server.received).toEqual([]);
  });

  async function answered(call: ReturnType<typeof aCall>) {
    const reply = await fixture.reply(call);
    if (reply.how !== 'answered') throw new Error(`not answered but ${JSON.stringify(reply)}`);
    return reply;
  }
});

/** Names as an attacker's name server would answer them; 127.0.0.2 stands for the public internet. */
const names: Record<string, string[]> = {
  'public.example': ['127.0.0.2'],
  localhost: ['127.0.0.1'],
  'rebind.example': ['127.0.0.1'],
  'mixed.example': ['127.0.0.2', '127.0.0.1'],
};

describe('the network of http_request', () => {
  let server: EffectServer;
  let fixture: ExecutorFixture;
  const asked: string[] = [];
  const get = (host: string) =>
    fixture.use('http_request', { method: 'GET', url: `http://${host.replaceAll('PORT', String(server.port))}/` });

  beforeAll(async () => {
    server = await EffectServer.open();
    const resolve = async (host: string) => {
      asked.push(host);
      return names[host] ?? [];
    };
    fixture = await ExecutorFixture.open({}, { resolve, isAllowed: (address) => address === '127.0.0.2' });
  });
  afterAll(async () => {
    await fixture.close();
    await server.close();
  });

  it('resolves once and connects to the address that was checked', async () => {
    expect((await get('public.example:PORT')).success).toBe(true);

    expect(asked).toEqual(['public.example']);
    expect(server.received.splice(0)).toMatchObject([
      { at: '127.0.0.2', headers: { host: `public.example:${server.port}` } },
    ]);
  });

  it.each([
    '169.254.169.254',
    '[::ffff:169.254.169.254]',
    '[::ffff:7f00:1]:PORT',
    '[::1]:PORT',
    '[::]:PORT',
    '127.0.0.1:PORT',
    '127.1:PORT',
    '2130706433:PORT',
    '0x7f000001:PORT',
    '0177.0.0.1:PORT',
    '0.0.0.0:PORT',
    '0:PORT',
    'localhost:PORT',
    'LOCALHOST:PORT',
    'rebind.example:PORT',
    'mixed.example:PORT',
    'unknown.example:PORT',
    '１２７.0.0.1:PORT',
    'public.example@127.0.0.1:PORT',
    'public.example:PORT@127.0.0.1:PORT',
    'user:password@public.example:PORT',
    '127.0.0.1:PORT\\@public.example',
    'public.example:25',
  ])('is closed to %s', async (host) => {
    const { success, error } = await get(host);

    expect({ success, error }).toEqual({ success: false, error: expect.stringMatching(/^Nothing was sent/) });
    expect(server.received).toEqual([]);
  });

  it.each(['file:///etc/passwd', 'gopher://127.0.0.1/', 'ftp://127.0.0.1/', 'data:text/plain,x'])(
    'has no way for %s',
    async (url) => {
      const { success, error } = await fixture.use('http_request', { method: 'GET', url });

      expect({ success, error }).toEqual({ success: false, error: expect.stringContaining('an http or https URL') });
    },
  );
});
