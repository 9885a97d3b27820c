import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as requestOver } from 'node:http';
import type { Socket } from 'node:net';
import type { CheckedDestination } from './checked-destination';
import { dialFor } from './dial';
import { toMessage } from '../thrown';

export interface HttpMessage {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Why the body is incomplete. */
  readonly cut?: string;
}

/** `unsent`: no byte was sent, so it had no effect. `lost`: it was sent and no answer came back, so it may have had one. */
export type Exchange =
  | { readonly how: 'answered'; readonly answer: HttpAnswer }
  | { readonly how: 'unsent' | 'lost'; readonly reason: string };

export interface ExchangeLimits {
  readonly signal: AbortSignal;
  /** How many bytes of the body are read. */
  readonly bodyBytes: number;
}

/** Sends one request to the address that was checked, over a connection of its own. */
export async function exchange(
  message: HttpMessage,
  destination: CheckedDestination,
  { signal, bodyBytes }: ExchangeLimits,
): Promise<Exchange> {
  let socket: Socket;
  try {
    socket = await dialFor(message.url, destination, signal);
  } catch (error) {
    return { how: 'unsent', reason: toMessage(error) };
  }
  const request = open(message, socket, signal);
  request.on('error', () => undefined); // `once` below reports it until the response begins; from then on the body's iterator does
  try {
    request.end(message.body);
    const [response] = (await once(request, 'response')) as [IncomingMessage]; // Node's documented arguments.
    return { how: 'answered', answer: await read(response, bodyBytes) };
  } catch (error) {
    return { how: 'lost', reason: toMessage(error) };
  } finally {
    request.destroy();
    socket.destroy();
  }
}

const redirects = [301, 302, 303, 307, 308];

/** The URL that a GET of `url` is redirected to. It must be checked like any other URL. */
export function findRedirect(url: URL, { status, headers: { location } }: HttpAnswer): URL | undefined {
  const isRedirect = redirects.includes(status) && location !== undefined && URL.canParse(location, url.href);
  return isRedirect ? new URL(location, url) : undefined;
}

function open({ method, url, headers, body }: HttpMessage, socket: Socket, signal: AbortSignal) {
  return requestOver({
    createConnection: () => socket,
    method,
    path: `${url.pathname}${url.search}`,
    headers: {
      'user-agent': 'rondo',
      'accept-encoding': 'identity',
      ...headers,
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      host: url.host,
    },
    signal,
  });
}

/** The response, with its body up to the limit or to where the connection broke. */
async function read(response: IncomingMessage, bodyBytes: number): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  let left = bodyBytes;
  let cut: string | undefined;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, left));
      left -= chunk.length;
      if (left < 0) break;
    }
    if (left < 0) cut = `only the first ${bodyBytes} bytes were read`;
  } catch {
    cut = 'the connection ended before the whole body was there';
  }
  const { statusCode: status = 0, statusMessage: statusText = '', headers } = response;
  return { status, statusText, headers, body: Buffer.concat(chunks), ...(cut !== undefined && { cut }) };
}
