import { createHash, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { type Route, idempotencyKey, isIdempotent } from '@rondo/contract/api';
import { type Caller, type IdempotentRequest, type PendingKey, canonicalJson } from '@rondo/persistence';
import { KeyedMutex } from '@rondo/platform';
import { z } from 'zod';
import type { ApiRequest } from '../auth/api-request';
import { ConcurrencyLimit } from '../auth/concurrency-limits';
import { parseInput } from '../http/parse-input';
import { toClientName } from '../auth/client-access';
import type { KeysInFlight } from './keys-in-flight';

const header = 'Idempotency-Key';
const headers = z.object({ [header]: idempotencyKey });
const hashSlowly = (text: string, salt: string): Promise<Buffer> =>
  promisify<string, string, number, Buffer>(scrypt)(text, salt, 32);

/** Undefined for a request without an idempotency key. */
export async function idempotentRequest(
  request: ApiRequest,
  route: Route | undefined,
): Promise<IdempotentRequest | undefined> {
  const key = request.get(header);
  if (!route || !isIdempotent(route) || key === undefined || !request.caller) return undefined;
  parseInput(headers, { [header]: key });
  const stored = toStoredKey(request.caller, key);
  const hash = requestHash(request);
  return {
    ...stored,
    requestHash: route.hasSecretBody ? await hideHash(hash, stored) : hash,
    ...(route.storesAnswer === false && { isOnce: true }),
  };
}

/** A client token's keys are those of its person or thread: another one that has the same key gets no answer of theirs. */
function toStoredKey(caller: Caller, key: string): Pick<IdempotentRequest, 'accountId' | 'key'> {
  const prefix = caller.client ? `client ${createHash('sha256').update(toClientName(caller)).digest('hex')} ` : '';
  return { accountId: caller.accountId, key: `${prefix}${key}` };
}

/** The same for bodies that differ in the order of their names only. */
export function requestHash({
  method,
  path,
  query = {},
  body,
  identity,
}: Pick<ApiRequest, 'method' | 'path' | 'identity'> & { query?: object; body?: unknown }): string {
  const asked = Object.keys(query).length === 0 ? [] : [query];
  return createHash('sha256')
    .update(canonicalJson([method, path, identity ?? body ?? null, ...asked]))
    .digest('hex');
}

const hashTurns = new KeyedMutex();
const waitingHashes = new ConcurrencyLimit(100, {
  code: 'rate_limited',
  detail: 'Too many requests of this account have an Idempotency-Key and a body that may have a secret.',
});

/**
 * A reader of the database does not find a password in it by trying. It takes a processor for a tenth of a second: those of one
 * account take turns, so that they do not keep others from the threads of this process.
 */
async function hideHash(hash: string, { accountId, key }: Pick<IdempotentRequest, 'accountId' | 'key'>) {
  const release = waitingHashes.acquire(accountId);
  try {
    return (await hashTurns.run(accountId, () => hashSlowly(hash, `${accountId} ${key}`))).toString('hex');
  } finally {
    release();
  }
}

/** A socket message, as the REST request that does the same. */
export interface EquivalentRequest {
  readonly caller: Caller;
  readonly key: string | undefined;
  readonly path: string;
  readonly body: unknown;
}

/** What is stored of its answer. Undefined without a key. */
export function toPendingKey<Created>(
  { caller, key, path, body }: EquivalentRequest,
  location: (created: Created) => string | null = () => null,
): PendingKey<Created> | undefined {
  if (key === undefined) return undefined;
  return {
    request: { ...toStoredKey(caller, key), requestHash: requestHash({ method: 'POST', path, body }) },
    answer: (created) => ({ status: 202, body: created, location: location(created) }),
  };
}

/** The result of this message, or the stored response to an earlier one with the same key. */
export type IdempotentResult<Result> = { readonly result: Result } | { readonly replayed: unknown };

/**
 * `idempotency_key` of a socket message. It has the meaning of the header `Idempotency-Key` and is stored in the same place, so
 * a message can be repeated over REST and the other way round.
 */
export class IdempotentMessages {
  constructor(private readonly keys: Pick<KeysInFlight, 'begin' | 'fail' | 'release'>) {}

  /** `handle` stores the response in the transaction that creates the resource. */
  async once<Result, Created>(
    { caller, key, path, body }: EquivalentRequest,
    handle: (pending: PendingKey<Created> | undefined) => Promise<Result>,
    location: (created: Created) => string | null = () => null,
  ): Promise<IdempotentResult<Result>> {
    const pending = toPendingKey({ caller, key, path, body }, location);
    if (!pending) return { result: await handle(undefined) };
    const { request } = pending;
    const stored = await this.keys.begin(request);
    if (stored) return { replayed: stored.body };
    try {
      const result = await handle(pending);
      this.keys.release(request);
      return { result };
    } catch (error) {
      await this.keys.fail(request, error);
      throw error;
    }
  }
}
