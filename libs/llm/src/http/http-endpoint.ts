import type { Dispatcher } from 'undici';
import { HttpCall } from './http-call';
import { HttpConnections } from './http-connections';

export const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

export const endpointUrl = (base: string, path: string): URL => new URL(base.replace(/\/+$/, '') + path);

/**
 * Posts JSON to one URL over kept connections. The built-in `fetch` and the providers' clients around it take more CPU than
 * everything else in a turn of an agent (see `bench/model-call.mjs`); undici's client below `fetch` takes little more than
 * half of `node:http`.
 *
 * Follows no redirect, uses no proxy, and adds no further headers.
 */
export class HttpEndpoint {
  private readonly connections: HttpConnections;
  private readonly request: Dispatcher.DispatchOptions;

  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    const ours = { 'content-type': 'application/json', 'user-agent': 'rondo' };
    this.connections = new HttpConnections(url.origin);
    this.request = {
      method: 'POST',
      path: url.pathname + url.search,
      headers: Object.entries({ ...ours, ...lowerCased(headers) }).flat(),
    };
  }

  post(body: string): HttpCall {
    return new HttpCall(this.connections, { ...this.request, body });
  }
}

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
