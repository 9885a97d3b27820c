import { once } from 'node:events';
import { type IncomingMessage, type Server, createServer, get as getOverHttp } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { ConnectProxy } from '../testing/connect-proxy';
import { CheckedDestination, OutboundRefusal } from './checked-destination';
import { RequestNotSent, createCheckedFetch } from './checked-fetch';
import { exchange } from './http-exchange';
import { OutboundProxy, isPublicName } from './outbound-proxy';
import { createProxyAgents } from './tunnel';

const never = new AbortController().signal;
let server: Server;
let proxy: ConnectProxy;
let port: number;

beforeEach(async () => {
  server = createServer((request, response) => response.end(`${request.headers.host ?? ''}${request.url ?? ''}`));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port; // It listens on TCP.
  proxy = await ConnectProxy.start({ 'shop.invalid:80': port, 'shop.invalid:443': port, '192.0.2.7:80': port });
});
afterEach(() => {
  expect(proxy.refused).toEqual([]);
  proxy.stop();
  server.close();
  server.closeAllConnections();
});

type Settings = Parameters<typeof OutboundProxy.from>[0];

/** No name has an address here, except in `addresses`. */
const rules = (settings: Settings = {}, addresses: Readonly<Record<string, string>> = {}) => ({
  proxy: OutboundProxy.from({ HTTP_PROXY: proxy.url, ...settings }),
  resolve: (host: string) => Promise.resolve(addresses[host] === undefined ? [] : [addresses[host]]),
  isAllowed: (address: string) => address.startsWith('192.0.2.'),
});
const fetching = (given = rules()) =>
  createCheckedFetch({ admit: (target) => CheckedDestination.check(target, given), bodyBytes: 1_000 });

describe('a request that leaves through a proxy', () => {
  it('has the proxy connect to the host by its name, also for http', async () => {
    expect(await (await fetching()('http://shop.invalid/a?b')).text()).toBe('shop.invalid/a?b');
    const url = new URL('http://shop.invalid/c');
    const destination = await CheckedDestination.check({ hostname: url.hostname, port: 80 }, rules());
    const outcome = await exchange({ method: 'GET', url, headers: {} }, destination, { signal: never, bodyBytes: 99 });
    expect(outcome).toMatchObject({ how: 'answered', answer: { status: 200 } });
    expect(proxy.asked).toEqual(['shop.invalid:80', 'shop.invalid:80']);
  });

  it('proves to the proxy who asks', async () => {
    const HTTP_PROXY = proxy.url.replace('//', '//ada:p%40ss@');
    await fetching(rules({ HTTP_PROXY }))('http://shop.invalid/');
    expect(proxy.credentials).toEqual([`Basic ${Buffer.from('ada:p@ss').toString('base64')}`]);
  });

  it('is not sent when the proxy refuses, or is away', async () => {
    await expect(fetching()('http://other.invalid/')).rejects.toThrow(RequestNotSent);
    await expect(fetching()('http://other.invalid/')).rejects.toThrow('The proxy answered with status 403.');
    const away = rules({ HTTP_PROXY: 'http://127.0.0.1:1' });
    await expect(fetching(away)('http://shop.invalid/')).rejects.toThrow(RequestNotSent);
  });

  it('asks the proxy for the checked address with PROXY_BY_ADDRESS, and refuses the name of a private one', async () => {
    const strict = rules({ PROXY_BY_ADDRESS: true }, { 'shop.invalid': '192.0.2.7', 'inside.invalid': '10.0.0.7' });
    expect(await (await fetching(strict)('http://shop.invalid/')).text()).toBe('shop.invalid/');
    await expect(fetching(strict)('http://inside.invalid/')).rejects.toThrow(OutboundRefusal);
    expect(proxy.asked).toEqual(['192.0.2.7:80']);
  });

  it('reaches hosts of NO_PROXY directly, at an address that is checked', async () => {
    const direct = rules({ NO_PROXY: 'shop.invalid' }, { 'shop.invalid': '10.0.0.7' });
    await expect(fetching(direct)('http://shop.invalid/')).rejects.toThrow('shop.invalid is not a public address.');
    expect(proxy.asked).toEqual([]);
  });

  it.each(['10.0.0.7', '169.254.169.254', '127.0.0.1', '[::1]', 'localhost', 'printer', 'metadata.google.internal'])(
    'is refused for %s before the proxy is asked',
    async (host) => {
      await expect(fetching()(`http://${host}/`)).rejects.toThrow(OutboundRefusal);
      await expect(fetching()(`https://${host}/`)).rejects.toThrow(OutboundRefusal);
      expect(proxy.asked).toEqual([]);
    },
  );

  it('is carried by agents for libraries that make their own requests', async () => {
    const through = OutboundProxy.from({ HTTP_PROXY: proxy.url });
    if (!through) throw new Error('no proxy is used');
    const { httpAgent } = createProxyAgents(through);
    const ask = async (url: string) => {
      const [answer] = (await once(getOverHttp(url, { agent: httpAgent }), 'response')) as [IncomingMessage]; // Node's documented arguments.
      return text(answer);
    };
    expect(await ask('http://shop.invalid/one')).toBe('shop.invalid/one');
    expect(await ask(`http://127.0.0.1:${port}/two`)).toBe(`127.0.0.1:${port}/two`);
    await expect(ask('http://other.invalid/')).rejects.toThrow('status 403');
    expect(proxy.asked).toEqual(['shop.invalid:80', 'other.invalid:80']);
    httpAgent.destroy();
  });
});

describe('OutboundProxy', () => {
  const http = 'http://web:3128/';
  const https = 'http://secure:3128/';
  const serverFor = (url: string, settings: Settings) => {
    const { protocol, hostname, port: given } = new URL(url);
    const target = { protocol, hostname, port: Number(given || (protocol === 'http:' ? 80 : 443)) };
    return OutboundProxy.from(settings)?.serverFor(target)?.href;
  };

  it.each([
    ['https://a.example', { HTTP_PROXY: http, HTTPS_PROXY: https }, https],
    ['http://a.example', { HTTP_PROXY: http, HTTPS_PROXY: https }, http],
    ['https://a.example', { HTTP_PROXY: http }, http],
    ['http://a.example', { HTTPS_PROXY: https }, undefined],
    ['https://a.example', {}, undefined],
    ['https://127.0.0.1:8443', { HTTP_PROXY: http }, undefined],
    ['https://[::1]:8443', { HTTP_PROXY: http }, undefined],
    ['https://a.example', { HTTP_PROXY: http, NO_PROXY: '*' }, undefined],
    ['https://a.example', { HTTP_PROXY: http, NO_PROXY: 'b.example, .example' }, undefined],
    ['https://a.b.example', { HTTP_PROXY: http, NO_PROXY: '*.b.example' }, undefined],
    ['https://ab.example', { HTTP_PROXY: http, NO_PROXY: 'b.example' }, http],
    ['https://a.example', { HTTP_PROXY: http, NO_PROXY: 'a.example:8443' }, http],
    ['https://a.example:8443', { HTTP_PROXY: http, NO_PROXY: 'a.example:8443' }, undefined],
    ['https://[2001:db8::7]', { HTTP_PROXY: http, NO_PROXY: '2001:db8::7' }, undefined],
    ['https://[2001:db8::7]', { HTTP_PROXY: http, NO_PROXY: '[2001:db8::7]:443' }, undefined],
  ])('leads to %s, given %j, through %s', (url, settings: Settings, expected) => {
    expect(serverFor(url, settings)).toBe(expected);
  });
});

it.each([
  ['a.example', true],
  ['A.Example.', true],
  ['10.0.0.7.nip.example', true],
  ['printer', false],
  ['localhost', false],
  ['a.localhost', false],
  ['db.prod.svc.cluster.local', false],
  ['metadata.google.internal', false],
  ['metadata.google.internal.', false],
  ['router.home.arpa', false],
  ['127.1', false],
  ['0x7f.1', false],
  ['a..example', false],
  ['', false],
])('a name by its form: %s may be public: %s', (name, expected) => {
  expect(isPublicName(name)).toBe(expected);
});
