import { once } from 'node:events';
import { type IncomingMessage, request as requestOver } from 'node:http';
import type { Socket } from 'node:net';
import { Readable, Transform, pipeline } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { type CheckedDestination, OutboundRefusal } from './checked-destination';
import { dialFor } from './dial';
import { type Target, toTarget } from './target';

export interface CheckedFetchRules {
  /** Decides about each request. Rejects with OutboundRefusal. */
  readonly admit: (target: Target) => Promise<CheckedDestination>;
  /** A body that is longer fails there. */
  readonly bodyBytes: number;
  /** Called when a body breaks off that is still read. A reader may not look at it for long. */
  readonly brokeOff?: (error: Error) => void;
}

export type CheckedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** No byte of the request was sent, so it had no effect. */
export class RequestNotSent extends Error {
  override readonly name = 'RequestNotSent';
}

/** The answer is longer than is read. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

/** Headers that belong to the connection, which this module makes. */
const connectionHeaders = ['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding'];

/**
 * `fetch` for libraries that ask for one: each request goes to an address that was checked, over a connection of its own.
 * The body streams. Redirects are answers like any other: a library that follows one asks here again, and it is checked.
 */
export function createCheckedFetch(rules: CheckedFetchRules): CheckedFetch {
  return async (given, init = {}) => {
    const url = new URL(given);
    const signal = init.signal ?? undefined;
    const socket = await connect(url, rules.admit, signal);
    const request = requestOver({
      createConnection: () => socket,
      method: init.method ?? 'GET',
      path: `${url.pathname}${url.search}`,
      headers: toHeaders(url, init),
      ...(signal && { signal }),
    });
    request.on('error', () => undefined); // `once` reports it until the response begins; from then on its body does
    try {
      request.end(init.body ?? undefined);
      const [response] = (await once(request, 'response')) as [IncomingMessage]; // Node's documented arguments
      response.once('close', () => socket.destroy());
      return toResponse(response, rules);
    } catch (error) {
      socket.destroy();
      throw error;
    }
  };
}

async function connect(url: URL, admit: CheckedFetchRules['admit'], signal: AbortSignal | undefined): Promise<Socket> {
  const { protocol, username, password } = url;
  if (protocol !== 'http:' && protocol !== 'https:') throw new OutboundRefusal('Only http and https can be requested.');
  if (username || password) throw new OutboundRefusal('A URL must not contain credentials.');
  signal?.throwIfAborted();
  const destination = await admit(toTarget(url));
  try {
    return await dialFor(url, destination, signal);
  } catch (error) {
    throw new RequestNotSent(error instanceof Error ? error.message : 'no connection', { cause: error });
  }
}

function toHeaders({ host }: URL, { headers, body }: RequestInit): Record<string, string | number> {
  const given = new Headers(headers);
  for (const name of connectionHeaders) given.delete(name);
  return {
    'user-agent': 'rondo',
    'accept-encoding': 'identity',
    ...Object.fromEntries(given),
    ...(typeof body === 'string' && { 'content-length': Buffer.byteLength(body) }),
    host,
  };
}

const bodyless = [204, 205, 304];

function toResponse(response: IncomingMessage, rules: CheckedFetchRules): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = response;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  }
  if (!bodyless.includes(status)) {
    return new Response(boundBody(response, rules), { status, statusText, headers });
  }
  response.resume();
  return new Response(null, { status, statusText, headers });
}

/** Ends the connection when its reader does not want the rest. */
function boundBody(response: IncomingMessage, { bodyBytes, brokeOff }: CheckedFetchRules): ReadableStream {
  let left = bodyBytes;
  const counted = new Transform({
    transform: (chunk: Buffer, _encoding, pass) => {
      left -= chunk.length;
      if (left < 0) pass(new AnswerTooLong(`The answer is longer than ${bodyBytes} bytes.`));
      else pass(null, chunk);
    },
  });
  pipeline(response, counted, (error) => {
    response.destroy();
    if (error && !isCancelled(error)) brokeOff?.(error);
  });
  return Readable.toWeb(counted);
}

/** The reader wanted no more of it, or its signal was aborted. */
const isCancelled = ({ code }: NodeJS.ErrnoException): boolean =>
  code === 'ABORT_ERR' || code === 'ERR_STREAM_PREMATURE_CLOSE';
