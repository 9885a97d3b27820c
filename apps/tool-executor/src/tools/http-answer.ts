import type { ToolResult } from '@rondo/contract';
import type { HttpAnswer } from '@rondo/platform';
import { clipMiddle } from '../clip-text';
import { succeeded } from './tool-handler';

const shownHeaders = [
  ...['content-type', 'content-encoding', 'location', 'link', 'etag', 'last-modified', 'allow'],
  ...['retry-after', 'www-authenticate', 'idempotent-replayed'],
];

interface Trail {
  /** Who answered. */
  readonly url: URL;
  /** How many redirects led there. */
  readonly followed: number;
}

/** Status, the headers that matter, and the body: the tool has done its work, whatever the status says. */
export function describeAnswer(answer: HttpAnswer, { url, followed }: Trail): ToolResult {
  const { status, statusText, headers, cut } = answer;
  const { text, truncated } = clipMiddle(bodyText(answer));
  const head = [
    `HTTP ${status} ${statusText}`.trim(),
    ...shownHeaders.flatMap((name) => (headers[name] === undefined ? [] : [`${name}: ${String(headers[name])}`])),
    ...(followed === 0 ? [] : [`[after ${followed} redirects, from ${url.href}]`]),
    ...(cut === undefined ? [] : [`[the body is not whole: ${cut}]`]),
  ].join('\n');
  return succeeded(text === '' ? head : `${head}\n\n${text}`, truncated || cut !== undefined);
}

function bodyText({ headers, body }: HttpAnswer): string {
  const type = headers['content-type'] ?? 'unknown type';
  const charset = /;\s*charset="?([^";\s]+)/i.exec(type)?.[1] ?? 'utf-8';
  return decoded(body, charset) ?? `[${body.length} bytes of ${type}, not shown: they are not text]`;
}

/** Undefined when the bytes are not text. A last character that was cut through is left out. */
function decoded(body: Buffer, charset: string): string | undefined {
  if (body.includes(0)) return undefined;
  try {
    return new TextDecoder(charset, { fatal: true }).decode(body, { stream: true });
  } catch {
    return undefined;
  }
}
