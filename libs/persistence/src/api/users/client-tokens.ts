import {
  type AccountId,
  type AgentId,
  type CallerId,
  type ClientScope,
  type ClientTokenId,
  type EndUser,
  type NewId,
  type ThreadId,
  accountId,
  agentId,
  clientScope,
  clientTokenId,
  endUser,
  threadId,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import { readAgent } from '../agents/change-agent';
import { type Caller, toHash, newSecret } from '../caller';
import { type Page, type PageRequest, idOfCursor, toPage } from '../page';
import { lockThread } from '../thread-row';

/** What the secret of every client token begins with. */
export const clientTokenPrefix = 'rondo_client_';

/** A token as it is shown later. One of `user` and `thread_id` is null. */
export interface ClientToken {
  readonly id: ClientTokenId;
  readonly user: EndUser | null;
  readonly thread_id: ThreadId | null;
  /** The stored agent that its new threads begin with. Null: the default of the account. */
  readonly agent_id: AgentId | null;
  readonly scopes: readonly ClientScope[];
  /** The key, or the user of an outside issuer, that made it. */
  readonly created_by: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly revoked_at: string | null;
}

/** `token` is shown only once; its hash is stored. */
export interface NewClientToken extends ClientToken {
  readonly token: string;
}

interface TokenToCreate {
  readonly accountId: AccountId;
  readonly createdBy: CallerId;
  readonly user?: EndUser | undefined;
  readonly threadId?: ThreadId | undefined;
  readonly agentId?: AgentId | undefined;
  readonly scopes: readonly ClientScope[];
  /** The lifetime of the token in seconds. */
  readonly expiresIn: number;
}

interface TokenFilter extends PageRequest {
  readonly accountId: AccountId;
  readonly user?: EndUser | undefined;
  readonly threadId?: ThreadId | undefined;
}

const tokenRow = z.object({
  id: clientTokenId,
  account_id: accountId,
  end_user: endUser.nullable(),
  thread_id: threadId.nullable(),
  agent_id: agentId.nullable(),
  scopes: z.array(clientScope),
  created_by: z.string(),
  created_at: z.date(),
  expires_at: z.date(),
  revoked_at: z.date().nullable(),
});

const columns = `id, account_id, end_user, thread_id, agent_id, scopes, created_by, created_at, expires_at, revoked_at`;

/** Deletes expired ones of the account at the same time, so that no periodic task has to. */
const insertToken = createQuery(
  tokenRow,
  `
with over as (
  delete from client_tokens where id in (
    select id from client_tokens where account_id = $2 and expires_at < clock_timestamp() order by expires_at limit 100
  )
)
insert into client_tokens (id, account_id, created_by, end_user, thread_id, agent_id, scopes, hash, expires_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp() + $9::float * interval '1 s')
returning ${columns}`,
);

/** It ends with its account and with the key that made it. */
const isGood = `
client_tokens.revoked_at is null and client_tokens.expires_at > clock_timestamp() and accounts.removed_at is null
  and api_keys.revoked_at is null and (api_keys.expires_at is null or api_keys.expires_at > clock_timestamp())`;

const withMaker = `
from client_tokens
join accounts on accounts.id = client_tokens.account_id
left join api_keys on api_keys.id = client_tokens.created_by`;

const validToken = createQuery(
  tokenRow,
  `
select ${columns.replaceAll(/\w+/g, 'client_tokens.$&')} ${withMaker} where client_tokens.hash = $1 and ${isGood}`,
);

const goodTokens = createQuery(
  z.object({ id: clientTokenId }),
  `select client_tokens.id ${withMaker} where client_tokens.id = any($1::text[]) and ${isGood}`,
);

const listedTokens = createQuery(
  tokenRow,
  `
select ${columns} from client_tokens
where account_id = $1 and expires_at > clock_timestamp() and ($2::text is null or id < $2)
  and ($3::text is null or end_user = $3) and ($4::text is null or thread_id = $4)
order by id desc limit $5`,
);

const revokeToken = `
update client_tokens set revoked_at = coalesce(revoked_at, clock_timestamp()) where id = $1 and account_id = $2
returning id`;

/** Tokens for browsers: each reaches the threads of one person, or one thread. */
export class ClientTokens {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** Rejects with `thread_not_found` and `agent_not_found`. */
  create({ accountId: account, createdBy, scopes, expiresIn, ...wanted }: TokenToCreate): Promise<NewClientToken> {
    const { user, threadId: thread, agentId: agent } = wanted;
    const token = newSecret(clientTokenPrefix);
    return this.database.transaction(async (sql) => {
      if (thread !== undefined) await lockThread(sql, { accountId: account, threadId: thread });
      if (agent !== undefined) await readAgent(sql, { accountId: account, agentId: agent });
      const row = await insertToken.first(sql, [
        ...[`ctk_${this.newId()}`, account, createdBy, user ?? null, thread ?? null, agent ?? null],
        ...[[...scopes], toHash(token), expiresIn],
      ]);
      if (!row) throw new Error('the client token was not stored');
      return { ...toToken(row), token };
    });
  }

  /** Those that have not expired, revoked ones too, newest first. Rejects with `invalid_cursor`. */
  async list({ accountId: account, after, limit, user, threadId: thread }: TokenFilter): Promise<Page<ClientToken>> {
    const before = after === undefined ? null : idOfCursor(after, clientTokenId);
    const values = [account, before, user ?? null, thread ?? null, limit + 1];
    return toPage((await listedTokens.all(this.database.sql, values)).map(toToken), limit);
  }

  /** Rejects with `client_token_not_found`. Idempotent. */
  async revoke({ accountId: account, id }: { accountId: AccountId; id: ClientTokenId }): Promise<void> {
    const revoked = await this.database.sql.query(revokeToken, [id, account]);
    if (revoked.length === 0) throw new TerminalError('client_token_not_found', `There is no client token ${id}.`);
  }

  /** Undefined for an unknown, revoked or expired token. */
  async verify(token: string): Promise<Caller | undefined> {
    const row = await validToken.first(this.database.sql, [toHash(token)]);
    if (!row) return undefined;
    const { end_user: user, thread_id: thread, agent_id: agent, scopes, created_by: createdBy } = row;
    return {
      accountId: row.account_id,
      keyId: row.id,
      scopes: [],
      client: { audience: { user, threadId: thread }, agentId: agent, scopes, createdBy },
      expiresAt: row.expires_at,
    };
  }

  /** Which of these tokens are no longer valid. */
  async readRevoked(ids: readonly ClientTokenId[]): Promise<ClientTokenId[]> {
    const good = new Set((await goodTokens.all(this.database.sql, [ids])).map(({ id }) => id));
    return ids.filter((id) => !good.has(id));
  }
}

const toToken = (row: z.infer<typeof tokenRow>): ClientToken => ({
  id: row.id,
  user: row.end_user,
  thread_id: row.thread_id,
  agent_id: row.agent_id,
  scopes: row.scopes,
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
  revoked_at: row.revoked_at?.toISOString() ?? null,
});
