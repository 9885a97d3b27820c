import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { buffer } from 'node:stream/consumers';

/** Has a handler of web requests answer one of Node. Its signal is aborted when the client goes away. */
export async function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]);
  const body = request.method === 'POST' ? new Uint8Array(await buffer(request)) : undefined;
  const url = `http://${request.headers.host}${request.url}`;
  const answer = await handle(
    new Request(url, { method: request.method ?? 'GET', headers, signal: gone.signal, ...(body && { body }) }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (!answer.body) return void response.end();
  const stream = Readable.fromWeb(answer.body); // the same class under two names
  await pipeline(stream, response).catch(() => undefined); // the client went away
}
