import { newUlid } from '@rondo/platform';
import type { NextFunction, Request, Response } from 'express';

/** The header in which the clients of a façade look for the id of a request, by the beginning of its path. */
const headers = { '/anthropic/': 'request-id', '/openai/': 'x-request-id' } as const;

/** Gives each request to such a façade an id, which its answer has, also an error. */
export function facadeRequestIds({ path }: Request, response: Response, next: NextFunction): void {
  for (const [prefix, header] of Object.entries(headers))
    if (path.startsWith(prefix)) response.setHeader(header, `req_${newUlid()}`);
  next();
}

/** Null for a response of no such façade. */
export function readRequestId(response: Response): string | null {
  for (const header of Object.values(headers)) {
    const id = response.getHeader(header);
    if (typeof id === 'string') return id;
  }
  return null;
}
