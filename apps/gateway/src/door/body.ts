import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { json } from 'express';
import { Refusal } from '../problems/refusals';

/** Reads JSON bodies as they are; everything else that has a body is refused. Ten kilobytes may hold ten megabytes, so nothing is unpacked. */
export function bodyReader(limitBytes: number): RequestHandler {
  const readAny = json({ limit: limitBytes, strict: false, inflate: false });
  return (request: Request, response: Response, next: NextFunction) => {
    if (!hasBody(request)) next();
    else if (isPlain(request, limitBytes)) readPlain(request, next);
    else if (!request.is('application/json')) {
      next(new Refusal('unsupported_media_type', 'The body must be application/json.'));
    } else readAny(request, response, (error?: unknown) => next(error === undefined ? undefined : refusalOf(error)));
  };
}

export const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** As nearly everybody sends it: nothing needs to be decoded, and its length is known. */
const isPlain = ({ headers }: Request, limitBytes: number): boolean =>
  Number(headers['content-length']) <= limitBytes &&
  headers['content-encoding'] === undefined &&
  /^application\/json(; ?charset=utf-8)?$/i.test(headers['content-type'] ?? '');

const utf8 = new TextDecoder();

function readPlain(request: Request, next: NextFunction): void {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const [first, ...others] = parts;
    const bytes = others.length === 0 ? first : Buffer.concat(parts);
    try {
      request.body = JSON.parse(utf8.decode(bytes)) as unknown;
    } catch {
      next(malformed());
      return;
    }
    next();
  });
}

const malformed = (): Refusal => new Refusal('malformed_json', 'The body is not valid JSON.');

function refusalOf(error: unknown): Refusal {
  const type = typeof error === 'object' && error !== null && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return new Refusal('payload_too_large', 'The body is too large.');
  if (type === 'charset.unsupported' || type === 'encoding.unsupported') {
    return new Refusal('unsupported_media_type', 'The body must be JSON in UTF-8, and not compressed.');
  }
  if (type === 'entity.parse.failed') return malformed();
  return new Refusal('malformed_request', 'The body could not be read.');
}
