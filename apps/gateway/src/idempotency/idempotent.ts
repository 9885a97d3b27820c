import type { PendingKey } from '@rondo/persistence';
import type { Response } from 'express';
import type { ApiRequest } from '../auth/api-request';

/** The answer to keep with what the request makes: the thing itself. Undefined where nothing was promised. */
export function promisedBy<Made>(
  { req }: Response,
  { status, location }: { status: number; location?: (made: Made) => string },
): PendingKey<Made> | undefined {
  const { idempotent: request }: ApiRequest = req;
  return request && { request, answer: (made) => ({ status, body: made, location: location?.(made) ?? null }) };
}
