import { once } from 'node:events';
import { type Socket, connect } from 'node:net';

interface UnsentBody {
  readonly path: string;
  readonly key?: string;
  readonly bytes: number;
  readonly sent?: string;
}

/** Begins a POST: sends its head, and no more of its body than given. */
export function beginPost(url: string, { path, key, bytes, sent = '' }: UnsentBody): Socket {
  const { hostname, port } = new URL(url);
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: gateway',
    ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
    'Content-Type: application/json',
    `Content-Length: ${bytes}`,
  ];
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  socket.write(`${lines.join('\r\n')}\r\n\r\n${sent}`);
  return socket;
}

export async function answerBeforeBody(
  url: string,
  post: UnsentBody,
): Promise<{ status: number; head: string; body: string }> {
  const socket = beginPost(url, post);
  const answered = once(socket, 'data', { signal: AbortSignal.timeout(30_000) });
  const [answer] = (await answered.finally(() => socket.destroy())) as [string];
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body };
}
