import {
  type AccountId,
  type ApiKeyId,
  type CallerId,
  type NewId,
  type SessionId,
  accountId,
  apiKeyId,
  sessionId,
  userId,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../database/database';
import type { Sql } from '../database/sql';
import { type Caller, toHash, newSecret } from './caller';
import { type Page, type PageRequest, idOfCursor, toPage } from './page';
import { z } from 'zod';
import { createQuery } from '../database/checked-query';

export interface Session extends Caller {
  readonly sessionId: SessionId;
  readonly expiresAt: Date;
}

/** A session as the admins of its account see it. */
export interface ListedSession {
  readonly id: SessionId;
  /** The key that it was made with, or the user of an outside issuer. */
  readonly caller_id: CallerId;
  readonly scopes: readonly string[];
  readonly created_at: string;
  readonly expires_at: string;
  /** Up to a minute older than its last use. Null: it was not used since uses are noted. */
  readonly last_used_at: string | null;
}

/** `secret` is for the cookie; its hash is stored. */
export interface NewSession {
  readonly session: Session;
  readonly secret: string;
}

/** What people call those in whose name a request is made. */
export interface CallerNames {
  readonly account: string;
  /** Of the API key. Null for a user of an outside issuer. */
  readonly key: string | null;
}

/** `code` is shown only once; its hash is stored. */
export interface SessionLink {
  readonly code: string;
  readonly expiresAt: Date;
}

const sessionRow = z.object({
  id: sessionId,
  account_id: accountId,
  key_id: apiKeyId.nullable(),
  user_id: userId.nullable(),
  scopes: z.array(z.string()),
  expires_at: z.date(),
});
type SessionRow = z.infer<typeof sessionRow>;

/** Older ones of the same key or user end when a further one begins. */
const sessionsPerCaller = 100;

/** Removes sessions that are over at the same time, so that no periodic task has to. */
const insertSession = createQuery(
  sessionRow,
  `
with over as (
  delete from sessions where account_id = $2 and (
    expires_at < clock_timestamp() or id in (
      select id from sessions
      where account_id = $2 and key_id is not distinct from $3 and user_id is not distinct from $4
      order by id desc offset ${sessionsPerCaller - 1}
    )
  )
)
insert into sessions (id, account_id, key_id, user_id, scopes, hash, expires_at)
values ($1, $2, $3, $4, $5, $6, least(clock_timestamp() + $7::float * interval '1 s', $8::timestamptz))
returning id, account_id, key_id, user_id, scopes, expires_at`,
);

const validSession = createQuery(
  sessionRow,
  `
select sessions.id, sessions.account_id, key_id, user_id, sessions.scopes, sessions.expires_at
from sessions
join accounts on accounts.id = sessions.account_id
left join api_keys on api_keys.id = key_id
where sessions.hash = $1 and sessions.revoked_at is null and sessions.expires_at > clock_timestamp()
  and api_keys.revoked_at is null and removed_at is null
  and (api_keys.expires_at is null or api_keys.expires_at > clock_timestamp())`,
);

const listedRow = sessionRow.extend({ created_at: z.date(), last_used_at: z.date().nullable() });

const accountSessions = createQuery(
  listedRow,
  `
select sessions.id, sessions.account_id, key_id, user_id, sessions.scopes, sessions.expires_at, sessions.created_at, sessions.last_used_at
from sessions
left join api_keys on api_keys.id = key_id
where sessions.account_id = $1 and ($2::text is null or sessions.id < $2)
  and sessions.revoked_at is null and sessions.expires_at > clock_timestamp()
  and api_keys.revoked_at is null and (api_keys.expires_at is null or api_keys.expires_at > clock_timestamp())
order by sessions.id desc limit $3`,
);

const endOfAccount = createQuery(
  z.object({ id: sessionId }),
  `
update sessions set revoked_at = coalesce(revoked_at, clock_timestamp()) where id = $1 and account_id = $2 returning id`,
);

const callerNames = createQuery(
  z.object({ account: z.string(), key: z.string().nullable() }),
  `
select accounts.name as account, api_keys.name as key from accounts
left join api_keys on api_keys.id = $2 and account_id = accounts.id
where accounts.id = $1`,
);

const noteUses = `
update sessions set last_used_at = clock_timestamp()
where id = any($1) and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`;

const endSession = `update sessions set revoked_at = clock_timestamp() where id = $1 and revoked_at is null`;

const liveSessions = createQuery(
  z.object({ id: z.string() }),
  `
select id from sessions where id = any($1) and revoked_at is null and expires_at > clock_timestamp()`,
);

const insertLink = createQuery(
  z.object({ expires_at: z.date() }),
  `
with over as (
  delete from session_links where account_id = $2 and expires_at < clock_timestamp()
)
insert into session_links (hash, account_id, key_id, expires_at)
values ($1, $2, $3, clock_timestamp() + $4::float * interval '1 s')
returning expires_at`,
);

const linkedKey = z.object({
  account_id: accountId,
  key_id: apiKeyId,
  scopes: z.array(z.string()),
  expires_at: z.date().nullable(),
});

const redeemLink = createQuery(
  linkedKey,
  `
with used as (
  delete from session_links where hash = $1 returning account_id, key_id, expires_at
)
select used.account_id, key_id, scopes, api_keys.expires_at from used
join api_keys on api_keys.id = key_id
join accounts on accounts.id = used.account_id
where used.expires_at > clock_timestamp() and revoked_at is null and removed_at is null
  and (api_keys.expires_at is null or api_keys.expires_at > clock_timestamp())`,
);

/** Browsers that are signed in. A session can do what its key can, until it expires, is ended, or its key is revoked. */
export class Sessions {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** It ends after so many seconds, and no later than the token of its caller. */
  begin(caller: Caller, seconds: number): Promise<NewSession> {
    return this.insert(this.database.sql, caller, seconds);
  }

  /** Undefined for an unknown, expired or ended session, and for one whose key was revoked. */
  async verify(secret: string): Promise<Session | undefined> {
    const row = await validSession.first(this.database.sql, [toHash(secret)]);
    return row && toSession(row);
  }

  /** Undefined of an account that is gone. */
  async names({ accountId: account, keyId }: Caller): Promise<CallerNames | undefined> {
    return callerNames.first(this.database.sql, [account, keyId]);
  }

  /** Idempotent. */
  async end(id: SessionId): Promise<void> {
    await this.database.sql.query(endSession, [id]);
  }

  /** Those of an account that are not over, newest first. Rejects with `invalid_cursor`. */
  async list({
    accountId: account,
    after,
    limit,
  }: PageRequest & { accountId: AccountId }): Promise<Page<ListedSession>> {
    const before = after === undefined ? null : idOfCursor(after, sessionId);
    const rows = await accountSessions.all(this.database.sql, [account, before, limit + 1]);
    return toPage(rows.map(toListedSession), limit);
  }

  /** Ends a session of the account, of any caller. Rejects with `session_not_found`. Idempotent. */
  async endInAccount({
    accountId: account,
    sessionId: id,
  }: {
    accountId: AccountId;
    sessionId: SessionId;
  }): Promise<void> {
    const ended = await endOfAccount.first(this.database.sql, [id, account]);
    if (!ended) throw new TerminalError('session_not_found', `There is no session ${id}.`);
  }

  /** That these sessions are used now. A session's time is written at most once a minute. */
  async noteUses(ids: readonly SessionId[]): Promise<void> {
    await this.database.sql.query(noteUses, [ids]);
  }

  /** Which of these are over. */
  async readEnded(ids: readonly SessionId[]): Promise<SessionId[]> {
    const rows = await liveSessions.all(this.database.sql, [ids]);
    const live = new Set(rows.map(({ id }) => id));
    return ids.filter((id) => !live.has(id));
  }

  /** A code that signs one browser in, within so many seconds, with the rights of this key. */
  async createLink(address: { accountId: AccountId; keyId: ApiKeyId }, seconds: number): Promise<SessionLink> {
    const code = newSecret('');
    const values = [toHash(code), address.accountId, address.keyId, seconds];
    const row = await insertLink.first(this.database.sql, values);
    if (!row) throw new Error('the link was not stored');
    return { code, expiresAt: row.expires_at };
  }

  /** Uses a code up. Undefined if it is unknown, expired or was used, or if its key was revoked. */
  redeem(code: string, seconds: number): Promise<NewSession | undefined> {
    return this.database.transaction(async (sql) => {
      const row = await redeemLink.first(sql, [toHash(code)]);
      if (!row) return undefined;
      const key = {
        ...{ accountId: row.account_id, keyId: row.key_id, scopes: row.scopes },
        ...(row.expires_at && { expiresAt: row.expires_at }),
      };
      return this.insert(sql, key, seconds);
    });
  }

  private async insert(sql: Sql, caller: Caller, seconds: number): Promise<NewSession> {
    const secret = newSecret('');
    const isKey = apiKeyId.safeParse(caller.keyId).success;
    const row = await insertSession.first(sql, [
      ...[`ses_${this.newId()}`, caller.accountId],
      ...[isKey ? caller.keyId : null, isKey ? null : caller.keyId],
      ...[[...caller.scopes], toHash(secret), seconds, caller.expiresAt ?? null],
    ]);
    if (!row) throw new Error('the session was not stored');
    return { session: toSession(row), secret };
  }
}

const callerId = ({ key_id, user_id }: Pick<SessionRow, 'key_id' | 'user_id'>): CallerId =>
  key_id === null ? userId.parse(user_id) : key_id;

const toListedSession = (row: z.infer<typeof listedRow>): ListedSession => ({
  id: row.id,
  caller_id: callerId(row),
  scopes: row.scopes,
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
  last_used_at: row.last_used_at?.toISOString() ?? null,
});

const toSession = ({ id, account_id, key_id, user_id, scopes, expires_at }: SessionRow): Session => ({
  accountId: account_id,
  keyId: callerId({ key_id, user_id }),
  scopes,
  sessionId: id,
  expiresAt: expires_at,
});
