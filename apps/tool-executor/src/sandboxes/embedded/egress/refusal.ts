import { STATUS_CODES } from 'node:http';
import { OutboundRefusal } from '@rondo/platform';
import { TooManyRequests } from './egress-gate';
import { NoHttp } from './message-head';

/** What a command gets to read in place of an answer. */
export function refusal(error: unknown): string {
  const { status, text } = wordsFor(error);
  const retry = status === 429 ? 'Retry-After: 1\r\n' : '';
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: text/plain\r\n${retry}`;
  return `${head}Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`;
}

function wordsFor(error: unknown): { status: number; text: string } {
  if (error instanceof TooManyRequests) return { status: 429, text: `${error.message}\n` };
  if (error instanceof OutboundRefusal) return { status: 403, text: `${error.message}\n` };
  if (error instanceof NoHttp) return { status: 400, text: `${error.message}\n` };
  return { status: 502, text: 'The host could not be reached.\n' };
}
