import type { IncomingHttpHeaders } from 'node:http';
import { EnvHttpProxyAgent } from 'undici';
import { HttpCall } from './http-call';
import { HttpConnections, connectionOptions } from './http-connections';
import type { HttpReply } from './http-reply';

/** As the SDKs of the providers call it. */
export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The proxies to use, as URLs; `noProxy` lists hosts that are reached without. */
export interface ProxySettings {
  readonly httpProxy?: string | undefined;
  readonly httpsProxy?: string | undefined;
  readonly noProxy?: string | undefined;
}

/** This machine is never reached through a proxy. */
const thisMachine = 'localhost,127.0.0.1,[::1]';

/** Undefined without a proxy. What is not given is given as empty: else the environment would be read. */
function createProxy({ httpProxy = '', httpsProxy = '', noProxy = '' }: ProxySettings): EnvHttpProxyAgent | undefined {
  if (httpProxy === '' && httpsProxy === '') return undefined;
  const hosts = [noProxy, thisMachine].filter((list) => list !== '').join(',');
  return new EnvHttpProxyAgent({ ...connectionOptions, httpProxy, httpsProxy, noProxy: noProxy === '*' ? '*' : hosts });
}

/** The longest text of a refusal that is read, in bytes. */
const maxRefusalBytes = 64 * 1024;

/**
 * A `fetch` for the SDKs of the providers, over kept connections. The one of Node takes as much CPU as the rest of a call (see
 * `bench/model-call.mjs`), most of it for the stream of the body. This one has what the SDKs use: it follows no redirect, and
 * the body of its response is the reply as it arrives from the connection.
 */
export function createFetch(proxies: ProxySettings = {}): Fetch {
  const proxy = createProxy(proxies);
  const pools = new Map<string, HttpConnections>();
  const connectionsTo = (origin: string): HttpConnections => {
    const known = pools.get(origin);
    if (known) return known;
    const pool = new HttpConnections(origin, proxy);
    pools.set(origin, pool);
    return pool;
  };

  return async (target, { method = 'GET', headers, body, signal } = {}) => {
    if (target instanceof Request || (body !== undefined && body !== null && typeof body !== 'string'))
      throw new TypeError('Only a URL and a text can be sent.');
    const { origin, pathname, search } = new URL(target);
    const call = new HttpCall(connectionsTo(origin), {
      origin,
      method,
      path: pathname + search,
      headers: [...(headers instanceof Headers ? headers : new Headers(headers))].flat(),
      body: body ?? null,
    });
    const abort = () => call.abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      // The SDKs read no other members of a response; a real one would need a web stream for each reply.
      return new LeanResponse(await call.reply) as unknown as Response;
    } catch (error) {
      throw toFailure(error);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  };
}

/** Fails as `fetch` does. The code of the system is all that is told: an SDK would take a text about time for its own limit. */
const toFailure = (error: unknown): TypeError =>
  new TypeError('fetch failed', { cause: { code: (error as NodeJS.ErrnoException | undefined)?.code } });

/** What the SDKs read of a `Response`. */
export class LeanResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: ReplyHeaders;
  readonly url = '';
  readonly statusText = '';

  constructor(readonly body: HttpReply) {
    this.status = body.status;
    this.ok = body.status >= 200 && body.status < 300;
    this.headers = new ReplyHeaders(body.headers);
  }

  /** The body of a refusal, which then stays readable in the headers: an error of an SDK has them, but not the whole body. */
  async text(): Promise<string> {
    this.headers.refusal = await this.body.text(maxRefusalBytes);
    return this.headers.refusal;
  }
}

/** What the SDKs read of a response's `Headers`. */
export class ReplyHeaders {
  refusal: string | undefined;

  constructor(readonly all: IncomingHttpHeaders) {}

  get(name: string): string | null {
    const value = this.all[name.toLowerCase()];
    return typeof value === 'string' ? value : null;
  }

  entries(): IterableIterator<[string, string]> {
    return Object.entries(this.all)
      .flatMap(([name, value]): [string, string][] => (typeof value === 'string' ? [[name, value]] : []))
      .values();
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}
