import { validateHeaderName, validateHeaderValue } from 'node:http';
import { type ToolResult, toFailedResult } from '@rondo/contract';
import {
  type Exchange,
  type HttpAnswer,
  type HttpMessage,
  OutboundRefusal,
  anySignal,
  exchange,
  findRedirect,
  toTarget,
} from '@rondo/platform';
import { type EgressGate, EgressRefusal } from '../../sandboxes';
import { clipMiddle } from '../clip-text';
import { type ToolHandler, type ToolInput, OutcomeUnknown, type ToolContext, toSuccess } from '../tool-handler';

const maxRedirects = 5;
const bodyBytes = 1024 * 1024;

/** Headers that belong to the connection. A `host` header could name another server than the one that was checked. */
const connectionHeaders =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|keep-alive|proxy-.*)$/;

/**
 * Sends the request from this process, under the egress rules of the sandbox. Any status is an answer. Only a request that was
 * sent and never answered has an unknown outcome (I5).
 */
export const httpRequest: ToolHandler<ToolInput<'http_request'>> = {
  handle: async (input, context) => {
    const message = toMessage(input, context.idempotencyKey);
    const problem = findProblem(message.headers);
    if (problem !== undefined) return toFailedResult(problem);

    const cancelled = anySignal([context.signal, AbortSignal.timeout(context.timeoutMs)]);
    return follow(message, context, cancelled.signal).finally(() => cancelled.release());
  },
};

/** Follows redirects until there is an answer or the signal is aborted. */
async function follow(first: HttpMessage, context: ToolContext, cancelled: AbortSignal): Promise<ToolResult> {
  let message = first;
  for (let followed = 0; ; followed += 1) {
    const outcome = await send(message, context.egress, cancelled);
    if (outcome.how !== 'answered') {
      const why = cancelled.aborted ? `no answer within ${context.timeoutMs / 1000} s` : outcome.reason;
      return reportUnanswered(outcome.how, `${message.url.host}: ${why}`, context);
    }
    const next = followed < maxRedirects ? followRedirect(message, outcome.answer) : undefined;
    if (!next) return describeAnswer(outcome.answer, { url: message.url, followed });
    message = next;
  }
}

function reportUnanswered(how: 'unsent' | 'lost', reason: string, { signal }: ToolContext): ToolResult {
  if (how === 'unsent') {
    signal.throwIfAborted();
    return toFailedResult(`Nothing was sent to ${reason}`);
  }
  const why = signal.aborted
    ? 'The executor cancelled the request after it had been sent.'
    : `The request was sent, but no answer came back from ${reason}.`;
  throw new OutcomeUnknown(why);
}

/** Each hop is checked by the egress rules, so that a redirect cannot lead where the request itself may not go. */
async function send(message: HttpMessage, gate: EgressGate, signal: AbortSignal): Promise<Exchange> {
  try {
    const destination = await Promise.race([readDestination(message.url, gate), readAbortion(signal)]);
    return await exchange(message, destination, { signal, bodyBytes });
  } catch (error) {
    return { how: 'unsent', reason: error instanceof OutboundRefusal ? error.message : 'The host was not found.' };
  }
}

function readDestination(url: URL, gate: EgressGate) {
  const { protocol, username, password } = url;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new EgressRefusal('Only http and https URLs can be requested.');
  if (username || password) throw new EgressRefusal('Put credentials in the authorization header, not in the URL.');
  return gate.admit(toTarget(url));
}

function readAbortion(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(new Error('aborted', { cause: signal.reason }));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  });
}

function toMessage(
  { method, url, headers = {}, body }: ToolInput<'http_request'>,
  idempotencyKey: string,
): HttpMessage {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const needsKey = method === 'POST' || method === 'PATCH';
  return {
    ...{ method, url: new URL(url), body },
    headers: { ...Object.fromEntries(given), ...(needsKey && { 'idempotency-key': idempotencyKey }) },
  };
}

function findProblem(headers: HttpMessage['headers']): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (connectionHeaders.test(name)) return `Leave out the header ${name}: it is set from the rest of the request.`;
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      return `The header ${JSON.stringify(name)} is not a valid one.`;
    }
  }
  return undefined;
}

/** Another origin gets none of the headers that were meant for this one. */
function followRedirect({ method, url, headers }: HttpMessage, answer: HttpAnswer) {
  const next = method === 'GET' || method === 'HEAD' ? findRedirect(url, answer) : undefined;
  return next && ({ method, url: next, headers: next.origin === url.origin ? headers : {} } satisfies HttpMessage);
}

const shownHeaders = [
  ...['content-type', 'content-encoding', 'location', 'link', 'etag', 'last-modified', 'allow'],
  ...['retry-after', 'www-authenticate', 'idempotent-replayed'],
];

interface AnswerOrigin {
  /** The URL that answered. */
  readonly url: URL;
  /** The number of redirects before it. */
  readonly followed: number;
}

/** Status, the relevant headers, and the body. The tool has succeeded, whatever the status is. */
export function describeAnswer(answer: HttpAnswer, { url, followed }: AnswerOrigin): ToolResult {
  const { status, statusText, headers, cut } = answer;
  const { text, truncated } = clipMiddle(bodyText(answer));
  const head = [
    `HTTP ${status} ${statusText}`.trim(),
    ...shownHeaders.flatMap((name) => (headers[name] === undefined ? [] : [`${name}: ${String(headers[name])}`])),
    ...(followed === 0 ? [] : [`[after ${followed} redirects, from ${url.href}]`]),
    ...(cut === undefined ? [] : [`[the body is not whole: ${cut}]`]),
  ].join('\n');
  return toSuccess(text === '' ? head : `${head}\n\n${text}`, truncated || cut !== undefined);
}

function bodyText({ headers, body }: HttpAnswer): string {
  const type = headers['content-type'] ?? 'unknown type';
  const charset = /;\s*charset="?([^";\s]+)/i.exec(type)?.[1] ?? 'utf-8';
  return decodeBody(body, charset) ?? `[${body.length} bytes of ${type}, not shown: they are not text]`;
}

/** Undefined when the bytes are not text. Leaves out an incomplete last character. */
function decodeBody(body: Buffer, charset: string): string | undefined {
  if (body.includes(0)) return undefined;
  try {
    return new TextDecoder(charset, { fatal: true }).decode(body, { stream: true });
  } catch {
    return undefined;
  }
}
