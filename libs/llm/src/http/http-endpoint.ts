import {
  type RequestOptions,
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as overHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as overHttps } from 'node:https';
import { HttpReply } from './http-reply';

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
  private readonly headers: Readonly<Record<string, string>>;

  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    this.headers = { 'content-type': 'application/json', 'user-agent': 'rondo', ...lowerCased(headers) };
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

  /** Resolves with the answer, whatever its status; rejects where none came. The signal also cuts its body off. */
  async post(body: string, signal: AbortSignal): Promise<HttpReply> {
    for (;;) {
      const headers = { ...this.headers, 'content-length': Buffer.byteLength(body) };
      const request = this.send({ ...this.target, headers });
      try {
        return await answerTo(request, body, signal);
      } catch (error) {
        if (signal.aborted || !wasStale(request, error)) throw error;
      }
    }
  }
}

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

function answerTo(request: ClientRequest, body: string, signal: AbortSignal): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    let open: { destroy(): unknown } = request;
    const abort = () => open.destroy();
    signal.addEventListener('abort', abort);
    request.on('close', () => signal.removeEventListener('abort', abort));
    request.on('error', reject);
    request.on('response', (message: IncomingMessage) => {
      open = message; // destroys its connection only as long as that carries nothing else
      resolve(new HttpReply(message));
    });
    request.end(body);
  });
}

/** A server may close a kept connection just when it is used again. Asking a model once more has no effect but its price. */
function wasStale(request: ClientRequest, error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException; // what a request emits
  return request.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
}
