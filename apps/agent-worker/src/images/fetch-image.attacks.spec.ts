import { once } from 'node:events';
import { type RequestListener, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pngSource } from '@rondo/contract/testing';
import { publicInternet } from '@rondo/platform';
import { type ImageRules, fetchImage } from './fetch-image';

const { data } = pngSource();
const png = Buffer.from(data, 'base64');
/** Played to be public; the canary listens at the same port of 127.0.0.1. */
const publicAddress = '127.0.0.2';

const never = new AbortController().signal;
const notPublic = { message: 'its host is not a public address', mayPass: false };

describe('attack: image URLs', () => {
  let target: Server;
  let canary: Server;
  let port: number;
  let reached: number;
  let asked: number;
  let answers: Map<string, string[]>;
  let rules: ImageRules;

  beforeAll(async () => {
    for (;;) {
      target = createServer((request, response) => answer(request, response));
      canary = createServer((_, response) => response.end(png)).on('connection', () => (reached += 1));
      port = await listen(target, 0, publicAddress);
      if ((await listen(canary, port, '127.0.0.1').catch(() => 0)) === port) return;
      target.close();
    }
  });
  afterAll(async () => {
    for (const server of [target, canary]) {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    }
  });
  beforeEach(() => {
    [reached, asked] = [0, 0];
    answers = new Map([
      ['public.example', Array<string>(9).fill(publicAddress)],
      ['rebind.example', [publicAddress, '127.0.0.1']],
      ['private.example', ['127.0.0.1']],
      ['localhost', ['127.0.0.1']],
    ]);
    rules = {
      resolve: (host) => Promise.resolve(answers.get(host)?.splice(0, 1) ?? []),
      isAllowed: (address) => address === publicAddress,
      internalHosts: [],
      resolveInternal: () => Promise.resolve(['127.0.0.1']),
      timeoutMs: 20_000,
    };
  });
  afterEach(() => expect(reached).toBe(0));

  const answer: RequestListener = (request, response) => {
    asked += 1;
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://any');
    const location = searchParams.get('to');
    if (location !== null) response.writeHead(302, { location }).end();
    else if (pathname === '/endless') pour(response);
    else if (pathname === '/silent') response.writeHead(200).write(png);
    else if (pathname === '/page')
      response.writeHead(200, { 'content-type': 'image/png' }).end('<svg onload="alert(1)"/>');
    else if (pathname === '/status') response.writeHead(Number(searchParams.get('is'))).end(png);
    else response.end(png);
  };

  const fetch = (url: string, more: Partial<ImageRules> = {}) =>
    fetchImage(url.replaceAll('PORT', String(port)), { ...rules, ...more }, never);

  /** As the worker guards itself. */
  const guarded = { isAllowed: publicInternet() };

  it.each([
    'http://127.0.0.1:PORT/a.png',
    'http://2130706433:PORT/a.png',
    'http://0x7f.1:PORT/a.png',
    'http://[::1]:PORT/a.png',
    'http://[::ffff:127.0.0.1]:PORT/a.png',
    'http://0.0.0.0:PORT/a.png',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/a.png',
    'http://private.example:PORT/a.png',
    'http://localhost:PORT/a.png',
  ])('a message shows %s', async (url) => {
    await expect(fetch(url, guarded)).rejects.toMatchObject(notPublic);
  });

  it.each(['http://127.0.0.1:PORT/a.png', 'http://private.example:PORT/a.png', 'http://169.254.169.254/'])(
    'a redirect from a public server to %s',
    async (to) => {
      const url = `http://public.example:PORT/?to=${encodeURIComponent(to.replace('PORT', String(port)))}`;
      await expect(fetch(url)).rejects.toMatchObject(notPublic);
      expect(asked).toBe(1);
    },
  );

  it('a redirect from a named internal server to another port beside it', async () => {
    const named = {
      internalHosts: [`inside.example:${port}`],
      resolveInternal: () => Promise.resolve([publicAddress]),
    };
    const loopback = encodeURIComponent(`http://127.0.0.1:${port}/`);

    expect(await fetch('http://inside.example:PORT/', named)).toMatchObject({ data });
    await expect(fetch(`http://inside.example:PORT/?to=${loopback}`, named)).rejects.toMatchObject(notPublic);
    await expect(fetch('http://inside.example:1/', named)).rejects.toMatchObject(notPublic);
  });

  it('a redirect to a file', async () => {
    const why = { message: 'it is not at an http or https URL', mayPass: false };
    await expect(fetch('http://public.example:PORT/?to=file:///etc/passwd')).rejects.toMatchObject(why);
  });

  it('a name that answers otherwise the second time, after a redirect to itself', async () => {
    await expect(fetch('http://rebind.example:PORT/?to=http://rebind.example:PORT/')).rejects.toMatchObject(notPublic);
    expect(asked).toBe(1);
  });

  it('redirects without end', async () => {
    const why = { message: 'its server redirects more than 5 times', mayPass: false };
    const loop: RequestListener = (_, response) => response.writeHead(302, { location: '/' }).end();
    target.removeAllListeners('request').on('request', loop);
    await expect(fetch('http://public.example:PORT/')).rejects.toMatchObject(why);
    target.removeAllListeners('request').on('request', answer);
  });

  it('a user name and a password in the URL', async () => {
    await expect(fetch('http://a:b@public.example:PORT/')).rejects.toMatchObject({ mayPass: false });
    expect(asked).toBe(0);
  });

  it('a body without end', async () => {
    const why = { message: 'it is larger than 5 MiB', mayPass: false };
    await expect(fetch('http://public.example:PORT/endless')).rejects.toMatchObject(why);
  });

  it('a server that begins an image and then says nothing more', async () => {
    const why = { message: 'it did not arrive within 0.2 s', mayPass: true };
    await expect(fetch('http://public.example:PORT/silent', { timeoutMs: 200 })).rejects.toMatchObject(why);
  });

  it('a name whose servers never answer', async () => {
    const silent = { resolve: () => new Promise<never>(() => undefined), timeoutMs: 200 };
    const why = { message: 'it did not arrive within 0.2 s' };
    await expect(fetch('http://public.example:PORT/', silent)).rejects.toMatchObject(why);
  });

  it('a page that says that it is a PNG, where a PNG would be fetched', async () => {
    const image = { media_type: 'image/png', width: 2, height: 3, data };
    expect(await fetch('http://public.example:PORT/a.png')).toEqual(image);
    expect(await fetch('http://public.example:PORT/?to=/a.png')).toEqual(image);

    const why = { message: 'it is no PNG, JPEG, GIF or WebP image', mayPass: false };
    await expect(fetch('http://public.example:PORT/page')).rejects.toMatchObject(why);
  });

  it.each([
    [404, false],
    [403, false],
    [429, true],
    [503, true],
  ])('the body of an answer with status %s, as an image', async (status, mayPass) => {
    const why = { message: `its server answered with status ${status}`, mayPass };
    await expect(fetch(`http://public.example:PORT/status?is=${status}`)).rejects.toMatchObject(why);
  });
});

function pour(response: Parameters<RequestListener>[1]): void {
  const chunk = Buffer.alloc(64 * 1024, png);
  response.on('close', () => (open = false));
  let open = true;
  const more = () => {
    while (open && response.write(chunk));
    if (open) response.once('drain', more);
  };
  more();
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port; // It listens on TCP.
}
