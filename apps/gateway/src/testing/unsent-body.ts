import { once } from 'node:events';
import { connect } from 'node:net';

/** The answer to a POST of which only the head is sent, and of the body what is given. */
export async function answerBeforeBody(
  url: string,
  { path, key, bytes, sent = '' }: { path: string; key?: string; bytes: number; sent?: string },
): Promise<{ status: number; head: string; body: string }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: gateway',
    ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
    'Content-Type: application/json',
    `Content-Length: ${bytes}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n${sent}`);
  const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(4_000) }).finally(() =>
    socket.destroy(),
  )) as [string];
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body };
}
