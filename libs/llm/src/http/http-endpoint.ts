import { type RequestOptions, Agent as HttpAgent, type ClientRequest, request as overHttp } from 'node:http';
import { Agent as HttpsAgent, request as overHttps } from 'node:https';
import { HttpCall } from './http-call';

/** How long a connection is kept for the next request; a server that keeps them for less says so itself. */
const idleTimeoutMs = 30_000;

/** More replies than this are never open at once: those beyond it wait. */
const maxConnections = 1024;

export const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

export const endpointUrl = (base: string, path: string): URL => new URL(base.replace(/\/+$/, '') + path);

/**
 * One URL that JSON is posted to, over connections that stay open. The built-in `fetch` and the providers' clients
 * around it take more CPU for this than everything else in a turn of an agent (see `bench/model-call.mjs`).
 *
 * Follows no redirect, uses no proxy, and sends nothing that was not said here.
 */
export class HttpEndpoint {
  private readonly send: (options: RequestOptions) => ClientRequest;
  private readonly target: RequestOptions;
  /** Names and values in turn: Node then writes them as they are, instead of keeping a table of them. */
  private readonly headers: readonly string[];

  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    const ours = { host: url.host, 'content-type': 'application/json', 'user-agent': 'rondo' };
    this.headers = Object.entries({ ...ours, ...lowerCased(headers) }).flat();
    const connections = { keepAlive: true, timeout: idleTimeoutMs, maxSockets: maxConnections };
    const secure = url.protocol === 'https:';
    this.send = secure ? overHttps : overHttp;
    this.target = {
      agent: secure ? new HttpsAgent(connections) : new HttpAgent(connections),
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port,
      path: url.pathname + url.search,
    };
  }

  post(body: string): HttpCall {
    const headers = [...this.headers, 'content-length', String(Buffer.byteLength(body))];
    return new HttpCall(() => this.send({ ...this.target, headers }), body);
  }
}

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
