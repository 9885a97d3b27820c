import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { isIP } from 'node:net';
import type { Destination } from '../sandbox';

export interface HttpMessage {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Why the body is not whole. */
  readonly cut?: string;
}

/** `unsent`: not a byte of it left, so nothing can have happened. `lost`: it left, and no answer came back. */
export type Exchange =
  | { readonly how: 'answered'; readonly answer: HttpAnswer }
  | { readonly how: 'unsent' | 'lost'; readonly reason: string };

const connectTimeoutMs = 10_000;
const bodyBytes = 1024 * 1024;

/** Sends one request to the very address that was decided on (R40), over a connection of its own. */
export async function exchange(message: HttpMessage, destination: Destination, signal: AbortSignal): Promise<Exchange> {
  const request = open(message, destination, signal);
  const progress = { sent: false };
  const impatience = setTimeout(() => request.destroy(new Error('no connection in time')), connectTimeoutMs);
  request.on('error', () => undefined); // heard below until the answer has begun; from then on the body tells
  request.once('socket', (socket) => {
    socket.once(message.url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      progress.sent = true;
      clearTimeout(impatience);
    });
  });
  try {
    request.end(message.body);
    const [response] = (await once(request, 'response')) as [IncomingMessage]; // Node's documented arguments.
    return { how: 'answered', answer: await read(response) };
  } catch (error) {
    return { how: progress.sent ? 'lost' : 'unsent', reason: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(impatience);
    request.destroy();
  }
}

function open({ method, url, headers, body }: HttpMessage, { address, port }: Destination, signal: AbortSignal) {
  const options = {
    method,
    host: address,
    port,
    path: `${url.pathname}${url.search}`,
    headers: {
      'user-agent': 'rondo',
      'accept-encoding': 'identity',
      ...headers,
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      host: url.host,
    },
    agent: false,
    signal,
  } as const;
  if (url.protocol === 'http:') return requestPlain(options);
  const name = url.hostname.replace(/^\[|\]$/g, '');
  return requestSecure({ ...options, ...(isIP(name) === 0 && { servername: name }) });
}

/** What the server said before it, or we, had enough. */
async function read(response: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  let room = bodyBytes;
  let cut: string | undefined;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, room));
      room -= chunk.length;
      if (room < 0) break;
    }
    if (room < 0) cut = `only the first ${bodyBytes} bytes were read`;
  } catch {
    cut = 'the connection ended before the whole body was there';
  }
  const { statusCode: status = 0, statusMessage: statusText = '', headers } = response;
  return { status, statusText, headers, body: Buffer.concat(chunks), ...(cut !== undefined && { cut }) };
}
