import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { json } from 'express';
import { Refusal } from '../problems/refusals';

/** Reads JSON bodies; everything else that has a body is refused. */
export function bodyReader(limitBytes: number): RequestHandler {
  const read = json({ limit: limitBytes, strict: false });
  return (request: Request, response: Response, next: NextFunction) => {
    if (hasBody(request) && !request.is('application/json')) {
      next(new Refusal('unsupported_media_type', 'The body must be application/json.'));
      return;
    }
    read(request, response, (error?: unknown) => next(error === undefined ? undefined : refusalOf(error)));
  };
}

const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function refusalOf(error: unknown): Refusal {
  const type = typeof error === 'object' && error !== null && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return new Refusal('payload_too_large', 'The body is too large.');
  if (type === 'charset.unsupported' || type === 'encoding.unsupported') {
    return new Refusal('unsupported_media_type', 'The body must be JSON in UTF-8.');
  }
  if (type === 'entity.parse.failed') return new Refusal('malformed_json', 'The body is not valid JSON.');
  return new Refusal('malformed_request', 'The body could not be read.');
}
