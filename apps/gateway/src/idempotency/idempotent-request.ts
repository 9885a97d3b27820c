import { createHash } from 'node:crypto';
import type { IdempotentRequest } from '@rondo/persistence';
import type { ApiRequest } from '../auth/api-request';
import { InvalidRequest } from '../problems/refusals';

const header = 'Idempotency-Key';
export const keyPattern = /^[\x20-\x7e]{1,255}$/;
export const keyRule = 'must be 1 to 255 printable ASCII characters';

/** Answers that hold a new key are not kept: of a key, only a hash may be (I12). */
export const keepsAnswer = (path: string): boolean => !/^\/v1\/(api-keys|admin\/accounts)\/?$/i.test(path);

/** Undefined for a request that asks for no such promise. */
export function idempotentRequest(request: ApiRequest): IdempotentRequest | undefined {
  const key = request.get(header);
  if (request.method !== 'POST' || key === undefined || !request.caller || !keepsAnswer(request.path)) return undefined;
  if (!keyPattern.test(key)) throw new InvalidRequest([{ field: header, message: keyRule }]);
  return { accountId: request.caller.accountId, key, requestHash: requestHash(request) };
}

export function requestHash({ method, path, body }: Pick<ApiRequest, 'method' | 'path'> & { body?: unknown }): string {
  return createHash('sha256')
    .update(JSON.stringify([method, path, body ?? null]))
    .digest('hex');
}
