import { isUtf8 } from 'node:buffer';
import type { Request } from 'express';
import { ApiError, InvalidRequest } from '../problems/api-error';
import { findExcess } from './json-bounds';

export const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** At most the limit: no longer body is read. */
export const expectBytes = ({ headers }: Request, limitBytes: number): number =>
  Math.min(Number(headers['content-length'] ?? limitBytes), limitBytes);

const utf8 = new TextDecoder();

/**
 * The JSON of a request. Other content types are refused, and so are compressed bodies (ten kilobytes may expand to ten
 * megabytes) and JSON with too many values or levels.
 */
export async function readJson(request: Request, limitBytes: number): Promise<unknown> {
  requireJson(request);
  const bytes = await readBytes(request, limitBytes);
  if (!isUtf8(bytes)) throw new ApiError('malformed_json', 'The body is not UTF-8, as JSON has to be.');
  return parseJson(bytes);
}

export function parseJson(bytes: Buffer): unknown {
  const text = utf8.decode(bytes);
  const excess = findExcess(text);
  if (excess) throw new InvalidRequest([excess]);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ApiError('malformed_json', 'The body is not valid JSON.');
  }
}

const jsonType = /^application\/json *(;|$)/i;
const charset = /; *charset *= *"?([^";]*)/i;

export function requireJson({ headers }: Request): void {
  const type = headers['content-type'] ?? '';
  if (!jsonType.test(type)) throw new ApiError('unsupported_media_type', 'The body must be application/json.');
  const isUtf8 = /^utf-?8 *$/i.test(charset.exec(type)?.[1] ?? 'utf-8');
  const isPlain = /^(identity)?$/i.test(headers['content-encoding'] ?? '');
  if (isUtf8 && isPlain) return;
  throw new ApiError('unsupported_media_type', 'The body must be JSON in UTF-8, and not compressed.');
}

/** Rejects as soon as more than the limit has arrived. */
export function readBytes(request: Request, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = new GrowingBuffer();
    const length = Number(request.headers['content-length'] ?? 0);
    const refuse = () => {
      reject(new ApiError('payload_too_large', `The body is too large: it may have ${limitBytes} bytes.`));
    };
    if (length > limitBytes) {
      refuse();
      return;
    }
    request.on('data', (part: Buffer) => {
      if (body.length + part.length <= limitBytes) body.append(part);
      else refuse();
    });
    request.once('end', () => {
      resolve(body.bytes);
    });
    const lose = () => {
      reject(new ApiError('malformed_request', 'The body could not be read.'));
    };
    if (request.destroyed) lose(); // its client left before
    request.once('close', lose);
  });
}

/** Copies what is appended: kept by themselves, pieces of one byte would take a hundred times their length. */
class GrowingBuffer {
  private buffer = Buffer.allocUnsafe(4 * 1024);
  length = 0;

  append(part: Buffer): void {
    const needed = this.length + part.length;
    if (needed > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.buffer.length));
      this.bytes.copy(larger);
      this.buffer = larger;
    }
    this.length += part.copy(this.buffer, this.length);
  }

  get bytes(): Buffer {
    return this.buffer.subarray(0, this.length);
  }
}

const maxDiscardedBytes = 16 * 1024 * 1024;

/** Reads on without keeping anything, so that the client gets to read the response; an endless body is cut off. */
export function discardBody(request: Request): void {
  let discarded = 0;
  request.on('data', (part: Buffer) => {
    discarded += part.length;
    if (discarded > maxDiscardedBytes) request.destroy();
  });
}
