import type { AccountId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../database/database';
import type { Sql } from '../database/sql';
import { toStoredText } from '../database/stored-text';
import { z } from 'zod';
import { anyJson, createQuery } from '../database/checked-query';

export interface IdempotentRequest {
  readonly accountId: AccountId;
  readonly key: string;
  readonly requestHash: string;
  /** Its answer is not kept, and it is never carried out again, even if it is not known whether it was. */
  readonly isOnce?: true;
}

/** The first answer to a request. */
export interface StoredResponse {
  readonly status: number;
  readonly body: unknown;
  readonly location: string | null;
}

/** The response, now and whenever the request is repeated. */
export interface PendingKey<Made> {
  readonly request: IdempotentRequest;
  readonly answer: (made: Made) => StoredResponse;
}

export type IdempotencyVerdict =
  | { readonly verdict: 'fresh' }
  | { readonly verdict: 'in_flight' }
  | { readonly verdict: 'reused' }
  | { readonly verdict: 'unknown' }
  | { readonly verdict: 'replay'; readonly response: StoredResponse };

interface FreshAttempt {
  readonly verdict: 'fresh';
  readonly request: IdempotentRequest;
}

/** A new key, an expired one, or one whose holder has been silent for so long that it must be dead. */
const insertKey = `
insert into idempotency_keys (account_id, key, request_hash, created_at) values ($1, $2, $3, clock_timestamp())
on conflict (account_id, key) do update set
  request_hash = excluded.request_hash, status = null, response = null, location = null, created_at = excluded.created_at
where idempotency_keys.created_at < clock_timestamp() - interval '24 hours'
  or (not $4 and idempotency_keys.status is null and idempotency_keys.request_hash = excluded.request_hash
    and idempotency_keys.created_at < clock_timestamp() - interval '10 s')
returning key`;

const keyRow = z.object({
  request_hash: z.string(),
  status: z.number().nullable(),
  body: anyJson,
  location: z.string().nullable(),
  is_silent: z.boolean(),
});

const readKey = createQuery(
  keyRow,
  `
select request_hash, status, response as body, location, created_at < clock_timestamp() - interval '10 s' as is_silent
from idempotency_keys where account_id = $1 and key = $2`,
);

/** Printable ASCII, as the key of a client is, but no client begins its own like this. */
const repeatable = (attempt: number, id: string): string => `sdk:${String(attempt).padStart(2, '0')}:${id}`;

/**
 * The newest request with an earlier attempt; of two in one millisecond, ids tell which that is. Once it is answered, it counts as
 * having arrived with this attempt.
 */
const takeEarlierAttempt = createQuery(
  z.object({ status: z.number().nullable(), body: anyJson, location: z.string().nullable() }),
  `
with earlier as materialized (
  select key, status, response, location from idempotency_keys
  where account_id = $1 and request_hash = $2 and key like 'sdk:__:%' and substr(key, 5, 2) < substr($3, 5, 2)
    and created_at > clock_timestamp() - interval '2 minutes'
    and (status is not null or created_at > clock_timestamp() - interval '10 s')
  order by created_at desc, substr(key, 8) desc limit 1 for update
),
renamed as (
  update idempotency_keys set key = $3 from earlier
  where account_id = $1 and idempotency_keys.key = earlier.key and earlier.status is not null
)
select status, response as body, location from earlier`,
);

const finishKey = `
update idempotency_keys set status = $4, response = $5, location = $6
where account_id = $1 and key = $2 and request_hash = $3 and status is null
returning key`;

const renewKeys = `
update idempotency_keys as kept set created_at = clock_timestamp()
from unnest($1::text[], $2::text[], $3::text[]) as held (account_id, key, request_hash)
where (kept.account_id, kept.key, kept.request_hash) = (held.account_id, held.key, held.request_hash) and status is null`;

const abandonKey = `
delete from idempotency_keys where account_id = $1 and key = $2 and request_hash = $3 and status is null`;

const pruneKeys = `
delete from idempotency_keys where (account_id, key) in (
  select account_id, key from idempotency_keys where created_at < clock_timestamp() - interval '24 hours'
  order by created_at limit 5000 for update skip locked
)
returning key`;

/** Remembers the answer to a request for 24 hours. */
export class IdempotencyKeys {
  constructor(private readonly database: Database) {}

  /**
   * `fresh`: the caller continues, must `renew` while it does, and `finish` or `abandon` in the end. Another request may take
   * over what was not renewed for 10 s, unless it `isOnce`: then it is `unknown` whether it was carried out. If the first is
   * only slow, one of the two makes the thing: it stores the response in the same transaction, and the other cannot.
   */
  async begin(request: IdempotentRequest): Promise<IdempotencyVerdict> {
    if (await claimKey(this.database.sql, request)) return { verdict: 'fresh' };

    const row = await readKey.first(this.database.sql, address(request).slice(0, 2));
    if (!row) return this.begin(request); // it was abandoned between the two looks
    const { request_hash, status, is_silent: isSilent, ...response } = row;
    if (request_hash !== request.requestHash) return { verdict: 'reused' };
    if (status === null) return { verdict: request.isOnce && isSilent ? 'unknown' : 'in_flight' };
    return { verdict: 'replay', response: { status, ...response } };
  }

  /**
   * The same for a client that sends no key, but says which attempt this is, from 0 on: the answer to the last attempt before it,
   * within two minutes, which answers no second one. `request` has the key under which a fresh one is stored.
   */
  async beginAttempt(
    { accountId, requestHash }: Omit<IdempotentRequest, 'key'>,
    { attempt, id }: { readonly attempt: number; readonly id: string },
  ): Promise<Exclude<IdempotencyVerdict, { verdict: 'reused' | 'fresh' | 'unknown' }> | FreshAttempt> {
    const request = { accountId, requestHash, key: repeatable(attempt, id) };
    const values = [accountId, requestHash, request.key];
    const earlier = attempt === 0 ? undefined : await takeEarlierAttempt.first(this.database.sql, values);
    if (!earlier) {
      await claimKey(this.database.sql, request);
      return { verdict: 'fresh', request };
    }
    const { status, ...response } = earlier;
    return status === null ? { verdict: 'in_flight' } : { verdict: 'replay', response: { status, ...response } };
  }

  /** They are in flight still. */
  async renew(requests: readonly IdempotentRequest[]): Promise<void> {
    const columns = ['accountId', 'key', 'requestHash'] as const;
    const values = columns.map((name) => requests.map((request) => toStoredText(request[name])));
    await this.database.sql.query(renewKeys, values);
  }

  async finish(request: IdempotentRequest, response: StoredResponse): Promise<void> {
    await finish(this.database.sql, request, response);
  }

  /** Deletes a request that failed, so that it can be repeated. */
  async abandon(request: IdempotentRequest): Promise<void> {
    await this.database.sql.query(abandonKey, address(request));
  }

  /** Deletes at most 5,000 keys that are older than 24 hours; the next call continues. Returns how many. */
  async prune(): Promise<number> {
    return (await this.database.sql.query(pruneKeys)).length;
  }
}

/** False: an earlier request has it. */
export const claimKey = async (sql: Sql, request: IdempotentRequest): Promise<boolean> =>
  (await sql.query(insertKey, [...address(request), request.isOnce === true])).length > 0;

/**
 * Stores the response in the transaction that creates the resource, so that both exist or neither. Rejects with
 * `idempotency_in_flight`, which rolls the work back, if another request has stored one meanwhile.
 */
export async function storeResponse<Made>(sql: Sql, promised: PendingKey<Made> | undefined, made: Made): Promise<Made> {
  if (!promised) return made;
  const kept = await finish(sql, promised.request, promised.answer(made));
  if (!kept) throw new TerminalError('idempotency_in_flight', 'Another request with this key was faster.');
  return made;
}

async function finish(sql: Sql, request: IdempotentRequest, response: StoredResponse): Promise<boolean> {
  const { status, body, location } = response;
  const values = [...address(request), status, JSON.stringify(body ?? null), location];
  return (await sql.query(finishKey, values)).length > 0;
}

const address = ({ accountId, key, requestHash }: IdempotentRequest) => [accountId, toStoredText(key), requestHash];
