import { createHash } from 'node:crypto';
import { type Route, idempotencyKey, isIdempotent } from '@rondo/contract/api';
import { TerminalError } from '@rondo/domain';
import type { Caller, IdempotencyKeys, IdempotentRequest, PendingKey, StoredResponse } from '@rondo/persistence';
import { z } from 'zod';
import type { ApiRequest } from '../auth/api-request';
import { parseInput } from '../http/parse-input';
import { toClientName } from '../auth/client-access';
import { ApiError, retryAfter } from '../problems/api-error';

const header = 'Idempotency-Key';
const headers = z.object({ [header]: idempotencyKey });

/** Undefined for a request without an idempotency key. */
export function idempotentRequest(request: ApiRequest, route: Route | undefined): IdempotentRequest | undefined {
  const key = request.get(header);
  if (!route || !isIdempotent(route) || key === undefined || !request.caller) return undefined;
  parseInput(headers, { [header]: key });
  return { ...toStoredKey(request.caller, key), requestHash: requestHash(request) };
}

/** A client token's keys are those of its person or thread: another one that has the same key gets no answer of theirs. */
function toStoredKey(caller: Caller, key: string): Pick<IdempotentRequest, 'accountId' | 'key'> {
  const prefix = caller.client ? `client ${createHash('sha256').update(toClientName(caller)).digest('hex')} ` : '';
  return { accountId: caller.accountId, key: `${prefix}${key}` };
}

export function requestHash({
  method,
  path,
  body,
  identity,
}: Pick<ApiRequest, 'method' | 'path' | 'identity'> & { body?: unknown }): string {
  return createHash('sha256')
    .update(JSON.stringify([method, path, identity ?? body ?? null]))
    .digest('hex');
}

/**
 * Claims the key of a request. Resolves to the stored response of an earlier request with it, or to undefined for the first one.
 * Rejects with `idempotency_in_flight` and `idempotency_key_reused`.
 */
export async function storedResponse(
  keys: Pick<IdempotencyKeys, 'begin'>,
  request: IdempotentRequest,
): Promise<StoredResponse | undefined> {
  const earlier = await keys.begin(request);
  switch (earlier.verdict) {
    case 'fresh':
      return undefined;
    case 'in_flight':
      throw inFlight('The first request with this key is not answered yet.');
    case 'reused':
      throw new ApiError('idempotency_key_reused', 'This key was used for another request.');
    case 'replay':
      return earlier.response;
  }
}

export const inFlight = (detail: string): ApiError => new ApiError('idempotency_in_flight', detail, retryAfter(1));

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
  constructor(
    private readonly keys: Pick<IdempotencyKeys, 'begin' | 'abandon'>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** `handle` stores the response in the transaction that creates the resource. */
  async once<Result, Created>(
    { caller, key, path, body }: EquivalentRequest,
    handle: (pending: PendingKey<Created> | undefined) => Promise<Result>,
    location: (created: Created) => string | null = () => null,
  ): Promise<IdempotentResult<Result>> {
    const pending = toPendingKey({ caller, key, path, body }, location);
    if (!pending) return { result: await handle(undefined) };
    const { request } = pending;
    const stored = await storedResponse(this.keys, request);
    if (stored) return { replayed: stored.body };
    try {
      return { result: await handle(pending) };
    } catch (error) {
      if (error instanceof TerminalError) await this.release(request);
      throw error;
    }
  }

  /** A refused message did nothing, so its key can be used again. */
  private async release(request: IdempotentRequest): Promise<void> {
    await this.keys.abandon(request).catch(this.onError);
  }
}
