import { type ProblemBody, type Route, isIdempotent } from '@rondo/contract/api';
import type { ApiRequest } from '../auth/api-request';
import { requestHash } from './idempotent-requests';
import type { Attempt } from './keys-in-flight';

/** Façades whose clients repeat a POST by themselves, without a key, and say in a header which attempt it is. */
const prefixes = ['/anthropic/', '/openai/'];

/** Undefined for other clients, for routes whose answers are not stored, and for uploads: what they send is not known yet. */
export function readAttempt(request: ApiRequest, route: Route | undefined): Attempt | undefined {
  const { caller, path } = request;
  const isStored = route && isIdempotent(route) && route.storesAnswer !== false && !route.rawBody;
  if (!caller || !isStored || !prefixes.some((prefix) => path.startsWith(prefix))) return undefined;
  const count = request.get('x-stainless-retry-count') ?? '';
  if (!/^\d{1,2}$/.test(count)) return undefined;
  return { accountId: caller.accountId, requestHash: requestHash(request), number: Number(count) };
}

/** Those clients repeat what is answered with 409 or 5xx, unless they are told that it will not change. */
export function toRetryHeaders({ status, code }: Pick<ProblemBody, 'status' | 'code'>): Record<string, string> {
  const mayChange = status >= 500 || status === 429 || status === 408 || code === 'idempotency_in_flight';
  return mayChange ? {} : { 'x-should-retry': 'false' };
}
