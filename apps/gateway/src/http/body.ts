import type { Request } from 'express';
import { InvalidRequest, Refusal } from '../problems/refusals';
import { nestingTrouble } from './nesting';

export const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Of what is longer nothing is read. */
export const expectedBytes = ({ headers }: Request, limitBytes: number): number =>
  Math.min(Number(headers['content-length'] ?? limitBytes), limitBytes);

const utf8 = new TextDecoder();

/**
 * The JSON of a request. Everything else that has a body is refused. Ten kilobytes may hold ten megabytes, so nothing is
 * unpacked, and nothing is parsed that is nested deeper than others can walk.
 */
export async function readJson(request: Request, limitBytes: number): Promise<unknown> {
  requireJson(request);
  const text = utf8.decode(await bytesOf(request, limitBytes));
  const trouble = nestingTrouble(text);
  if (trouble) throw new InvalidRequest([trouble]);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Refusal('malformed_json', 'The body is not valid JSON.');
  }
}

const jsonType = /^application\/json *(;|$)/i;
const charset = /; *charset *= *"?([^";]*)/i;

function requireJson({ headers }: Request): void {
  const type = headers['content-type'] ?? '';
  if (!jsonType.test(type)) throw new Refusal('unsupported_media_type', 'The body must be application/json.');
  const isUtf8 = /^utf-?8 *$/i.test(charset.exec(type)?.[1] ?? 'utf-8');
  const isPlain = /^(identity)?$/i.test(headers['content-encoding'] ?? '');
  if (isUtf8 && isPlain) return;
  throw new Refusal('unsupported_media_type', 'The body must be JSON in UTF-8, and not compressed.');
}

/** Rejects as soon as there are more than these. */
function bytesOf(request: Request, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const length = Number(request.headers['content-length'] ?? 0);
    let received = 0;
    const refuseLong = () => {
      reject(new Refusal('payload_too_large', 'The body is too large.'));
    };
    if (length > limitBytes) {
      refuseLong();
      return;
    }
    request.on('data', (part: Buffer) => {
      received += part.length;
      if (received <= limitBytes) parts.push(part);
      else refuseLong();
    });
    request.once('end', () => {
      resolve(Buffer.concat(parts));
    });
    request.once('close', () => {
      reject(new Refusal('malformed_request', 'The body could not be read.'));
    });
  });
}

const mostDiscardedBytes = 16 * 1024 * 1024;

/** For a body that is not read, so that an honest client gets to its answer; one that never ends is cut off. */
export function discardBody(request: Request): void {
  let discarded = 0;
  request.on('data', (part: Buffer) => {
    discarded += part.length;
    if (discarded > mostDiscardedBytes) request.destroy();
  });
}
