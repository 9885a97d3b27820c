import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';

/** Serves a JSON document that is built at its first request and is the same bytes from then on, with an `ETag`. */
export function staticDocument(build: () => object): RequestHandler {
  let built: { readonly bytes: Buffer; readonly etag: string } | undefined;
  return (request, response) => {
    built ??= toBytes(build());
    response.setHeader('ETag', built.etag);
    response.setHeader('Cache-Control', 'no-cache');
    if (request.headers['if-none-match'] === built.etag) {
      response.status(304).end();
      return;
    }
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', built.bytes.length);
    response.end(request.method === 'HEAD' ? undefined : built.bytes);
  };
}

function toBytes(document: object) {
  const bytes = Buffer.from(JSON.stringify(document));
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
}
