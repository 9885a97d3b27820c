import { ConnectionError, RondoError } from './errors.ts';
import type { Problem } from './generated/api.ts';

export interface RondoOptions {
  /** For example `http://localhost:3000`. */
  readonly baseUrl: string;
  /**
   * A key or a client token, or what gives one: it is asked before each request, for example for a token that is renewed.
   * Left out on a page that has a session, whose cookie goes with each request.
   */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined;
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** How often a request is sent again that got no answer, or one that says "later". Default: 2, and 15 for "in flight". */
  readonly retries?: number;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | undefined;
  readonly path: string;
  readonly query?: Query;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly content?: RequestInit['body'];
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** In place of the client's. */
  readonly retries?: number | undefined;
  /** False for a request that must not be sent twice. */
  readonly repeatable?: boolean;
}

/** The answers that say "later". */
const laterStatuses: readonly number[] = [429, 502, 503, 504];

export const saysLater = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof RondoError && laterStatuses.includes(error.status)) ||
  isInFlight(error);

/** The first attempt is not answered yet, or died with its gateway: then its key is free after ten seconds. */
const isInFlight = (error: unknown): boolean => error instanceof RondoError && error.code === 'idempotency_in_flight';

const inFlightRetries = 15; // a second apart

export const delayMs = (error: unknown, failures: number): number =>
  error instanceof RondoError && error.retryAfterS !== undefined ? error.retryAfterS * 1000 : backoffMs(failures);

/** Sends requests to the gateway. */
export class Transport {
  private readonly url: string;
  private readonly fetch: typeof fetch;
  readonly retries: number;

  constructor(private readonly options: RondoOptions) {
    this.url = options.baseUrl.replace(/\/+$/, '');
    this.fetch = options.fetch ?? ((...request) => fetch(...request)); // a browser's fetch must be called on its window
    this.retries = options.retries ?? 2;
  }

  /** The body of an answer. */
  json<Body>(request: ApiRequest): Promise<Body> {
    return this.read(request, (response) => response.json() as Promise<Body>); // the gateway's own tests hold it to its OpenAPI document
  }

  /** What `readBody` makes of an answer, whole: a request whose answer was cut off is sent again, too. */
  read<Body>(request: ApiRequest, readBody: (response: Response) => Promise<Body>): Promise<Body> {
    return this.repeat(request, (response) =>
      readBody(response).catch(async (cause: unknown) => {
        if (response.status === noContent) throw new ConnectionError('The answer was lost: what it deleted is gone.');
        throw (cause as Error).name === 'SyntaxError' ? await refusal(response) : cutOff(cause, request.signal);
      }),
    );
  }

  /** The response of a request that succeeded. */
  send(request: ApiRequest): Promise<Response> {
    return this.repeat(request, (response) => Promise.resolve(response));
  }

  /** A POST has an idempotency key, so that sending it again does nothing twice. */
  private async repeat<Answer>(request: ApiRequest, read: (response: Response) => Promise<Answer>): Promise<Answer> {
    const { method = 'GET', repeatable = true, retries = this.retries, signal } = request;
    const headers = { ...(method === 'POST' && repeatable && { 'Idempotency-Key': randomKey() }), ...request.headers };
    let isLost = false;
    for (let failures = 0; ; failures++) {
      try {
        return await read(await this.attempt({ ...request, headers }));
      } catch (error) {
        if (isLost && isGone(method, error)) return await read(new Response(null, { status: noContent }));
        if (isLost && mayBeOwnWrite(request, error))
          throw new ConnectionError(`The answer was lost, and the repeated request refused: ${error.message}`, {
            cause: error,
          });
        const more = retries > 0 && isInFlight(error) ? inFlightRetries : 0;
        if (!repeatable || failures >= Math.max(retries, more) || !saysLater(error)) throw error;
        isLost ||= error instanceof ConnectionError;
        await pause(delayMs(error, failures), signal);
      }
    }
  }

  /** Sends the request once. */
  async attempt({
    method = 'GET',
    path,
    query = {},
    json,
    content,
    signal,
    ...request
  }: ApiRequest): Promise<Response> {
    const { apiKey } = this.options;
    const key = typeof apiKey === 'function' ? await apiKey() : apiKey;
    const body = json === undefined ? content : JSON.stringify(json);
    const headers = new Headers(json === undefined ? {} : { 'Content-Type': 'application/json' });
    if (key !== undefined) headers.set('Authorization', `Bearer ${key}`);
    for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value);
    const response = await this.fetch(`${this.url}${path}${queryText(query)}`, {
      method,
      headers,
      ...(body !== undefined && { body, duplex: 'half' }),
      ...(signal && { signal }),
    }).catch((cause: unknown) => {
      signal?.throwIfAborted();
      throw new ConnectionError(`${this.url} cannot be reached.`, { cause });
    });
    if (!response.ok) throw await refusal(response);
    return response;
  }
}

/** In the place of an answer that was lost. */
const noContent = 204;

/** Whether a request to delete, whose first answer was lost, finds nothing more to delete. */
const isGone = (method: string, error: unknown): boolean =>
  method === 'DELETE' && error instanceof RondoError && error.status === 404 && error.code !== notFromGateway;

/** Whether the version that a request is refused for may be the one that its first attempt has made. */
const mayBeOwnWrite = ({ json, query }: ApiRequest, error: unknown): error is RondoError =>
  error instanceof RondoError && error.status === 409 && 'if_version' in { ...query, ...(json as object | undefined) };

const notFromGateway = 'no_problem';

/** An error while a body is read. */
export function cutOff(cause: unknown, signal?: AbortSignal): ConnectionError {
  signal?.throwIfAborted();
  return new ConnectionError('The connection to the gateway was cut.', { cause });
}

function queryText(query: Query): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given.toString()}`;
}

/** What is not a problem comes from a proxy, or from another server. */
export async function refusal(response: Response): Promise<Error> {
  const body: unknown = await response.json().catch(() => undefined);
  const seconds = Number(response.headers.get('Retry-After') ?? NaN);
  if (isProblem(body)) return new RondoError(body, Number.isNaN(seconds) ? undefined : seconds);
  const isLater = laterStatuses.includes(response.status);
  const problem = { type: 'about:blank', title: response.statusText, status: response.status, code: notFromGateway };
  return isLater
    ? new ConnectionError(`A proxy answered ${response.status}.`)
    : new RondoError({ ...problem, detail: `The answer ${response.status} is not from a Rondo gateway.` });
}

const isProblem = (body: unknown): body is Problem =>
  typeof body === 'object' && body !== null && 'code' in body && 'status' in body && 'title' in body;

/** Not `randomUUID`, which browsers offer only on pages with https. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const firstMs = 250;
const longestMs = 8_000;

/** Doubles with each failure in a row, up to 8 s, with jitter so that clients do not return at the same moment. */
function backoffMs(failures: number): number {
  const most = Math.min(longestMs, firstMs * 2 ** Math.min(failures, 10));
  return most * (0.5 + Math.random() / 2);
}

/** Resolves after so many milliseconds; rejects with the reason of the signal when that is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error); // what the caller aborted with, whatever it is
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
