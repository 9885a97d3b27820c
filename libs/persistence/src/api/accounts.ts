import { type AccountId, type ApiKeyId, type NewId, accountId, apiKeyId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../database/database';
import type { ApiKey as ApiKeyRow } from '../generated/client';
import { type QuotaBounds, writeWithin } from './billing/quota-bounds';
import { lockAccount } from './lock-account';
import { type Page, type PageRequest, idOfCursor, toPage } from './page';
import { toStoredText } from '../database/stored-text';
import { type Caller, toHash, newSecret } from './caller';
import { z } from 'zod';
import { createQuery } from '../database/checked-query';

export interface Account {
  readonly id: AccountId;
  readonly name: string;
  readonly created_at: string;
}

/** `tier` is the one that was set for it; null if none was. */
export interface ListedAccount extends Account {
  readonly tier: string | null;
}

/** `key` is shown only once; its hash is stored. */
export interface NewApiKey {
  readonly id: ApiKeyId;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly key: string;
  readonly created_at: string;
  /** Null: never. */
  readonly expires_at: string | null;
}

/** A key as it is shown later. `hint` is its end, by which its owner can recognize it. */
export interface ApiKey {
  readonly id: ApiKeyId;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly string[];
  readonly created_at: string;
  readonly revoked_at: string | null;
  /** Null: never. */
  readonly expires_at: string | null;
  /** Up to a minute older than its last use. Null: it was not used since uses are noted. */
  readonly last_used_at: string | null;
}

/** `isRevoked`: the configured key was revoked, and another one must be configured. */
export interface SeededAdmin extends Caller {
  readonly keyId: ApiKeyId;
  readonly isRevoked: boolean;
}

/** Its keys are revoked, and its data is being deleted. */
export interface RemovedAccount extends Account {
  readonly removed_at: string;
}

const removedRow = z.object({
  name: z.string(),
  created_at: z.date(),
  removed_at: z.date(),
});

const validKeyRow = z.object({
  id: apiKeyId,
  account_id: accountId,
  scopes: z.array(z.string()),
  expires_at: z.date().nullable(),
});

const seededKey = z.object({
  id: apiKeyId,
  account_id: accountId,
  revoked_at: z.date().nullable(),
});

interface KeyToCreate {
  readonly accountId: AccountId;
  readonly name: string;
  readonly scopes: readonly string[];
  /** Absent: it does not expire. */
  readonly expiresAt?: Date | undefined;
  readonly bounds?: QuotaBounds | undefined;
}

interface KeyToRevoke {
  readonly accountId: AccountId;
  readonly keyId: ApiKeyId;
  /** Whether the account has other admins than keys. That of the operator gets its keys from the configuration. */
  readonly mayBeLast?: boolean;
}

/** The account of the operator of the deployment. */
export const operatorAccount = accountId.parse('acc_admin');

const validKey = createQuery(
  validKeyRow,
  `
select api_keys.id, account_id, scopes, expires_at from api_keys join accounts on accounts.id = account_id
where hash = $1 and revoked_at is null and removed_at is null
  and (expires_at is null or expires_at > clock_timestamp())`,
);

const noteUses = `
update api_keys set last_used_at = clock_timestamp()
where id = any($1) and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`;

const activeAccount = `select id from accounts where id = $1 and removed_at is null`;
const activeAccounts = createQuery(
  z.object({ id: accountId }),
  `select id from accounts where id = any($1) and removed_at is null`,
);

const removeAccount = createQuery(
  removedRow,
  `
with removed as (
  update accounts set removed_at = coalesce(removed_at, clock_timestamp()) where id = $1
  returning name, created_at, removed_at
),
revoked as (
  update api_keys set revoked_at = clock_timestamp() from removed where account_id = $1 and revoked_at is null
)
select * from removed`,
);

/** Locks the account, so that gateways with different configurations do not revoke each other's key. */
const upsertOperator = `
insert into accounts (id, name) values ($1, 'admin') on conflict (id) do update set name = accounts.name`;

const seedKey = createQuery(
  seededKey,
  `
insert into api_keys (id, account_id, name, hash, hint, scopes, seeded) values ($1, $2, $3, $4, $5, $6, true)
on conflict (hash) do update set seeded = api_keys.account_id = excluded.account_id
returning id, account_id, revoked_at`,
);

const revokeSeededBefore = `
update api_keys set revoked_at = clock_timestamp()
where account_id = $1 and id <> $2 and seeded and revoked_at is null`;

const keyToRevoke = createQuery(
  z.object({ is_revoked: z.boolean(), is_last_admin: z.boolean() }),
  `
select
  revoked_at is not null as is_revoked,
  'admin' = any(scopes) and coalesce(expires_at > clock_timestamp(), true) and not exists (
    select from api_keys as other
    where other.account_id = $1 and other.id <> $2 and 'admin' = any(other.scopes) and other.revoked_at is null
      and coalesce(other.expires_at > clock_timestamp(), true)
  ) as is_last_admin
from api_keys where account_id = $1 and id = $2`,
);

const insertKey = createQuery(
  z.object({ created_at: z.date() }),
  `
insert into api_keys (id, account_id, name, hash, hint, scopes, expires_at) values ($1, $2, $3, $4, $5, $6, $7)
returning created_at`,
);

const revokeKey = `update api_keys set revoked_at = clock_timestamp() where id = $1 and revoked_at is null`;

export class Accounts {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** An account with its first key. */
  async create({ name, scopes }: Omit<KeyToCreate, 'accountId'>): Promise<{ account: Account; apiKey: NewApiKey }> {
    const account = await this.insertAccount(name);
    return { account, apiKey: await this.createKey({ accountId: account.id, name, scopes }) };
  }

  /** All accounts but removed ones: the operator's, then the newest first. Rejects with `invalid_cursor`. */
  async list({ after, limit }: PageRequest): Promise<Page<ListedAccount>> {
    const rows = await this.database.prisma.account.findMany({
      where: { removedAt: null, ...(after !== undefined && { id: { lt: idOfCursor(after, accountId) } }) },
      orderBy: { id: 'desc' },
      take: limit + 1,
      include: { balance: { select: { tier: true } } },
    });
    return toPage(
      rows.map(({ id, name, createdAt, balance }) => ({
        id: accountId.parse(id),
        name,
        created_at: createdAt.toISOString(),
        tier: balance?.tier ?? null,
      })),
      limit,
    );
  }

  /** Rejects with QuotaReached. */
  createKey({ bounds, ...wanted }: KeyToCreate): Promise<NewApiKey> {
    const key = newSecret('rondo_');
    const { id, accountId, name, hash, hint, scopes, expiresAt } = this.keyRow(wanted, key);
    return this.database.transaction((sql) =>
      writeWithin(sql, { accountId, bounds }, async () => {
        const row = await insertKey.first(sql, [id, accountId, name, hash, hint, scopes, expiresAt]);
        const times = {
          created_at: row?.created_at.toISOString() ?? '', // an insert returns its row
          expires_at: expiresAt?.toISOString() ?? null,
        };
        return { id, name, scopes, key, ...times };
      }),
    );
  }

  /** The account's keys, revoked ones too, newest first. Rejects with `invalid_cursor`. */
  async listKeys({ accountId, after, limit }: PageRequest & { accountId: AccountId }): Promise<Page<ApiKey>> {
    const rows = await this.database.prisma.apiKey.findMany({
      where: { accountId, ...(after !== undefined && { id: { lt: idOfCursor(after, apiKeyId) } }) },
      orderBy: { id: 'desc' },
      take: limit + 1,
    });
    return toPage(rows.map(toApiKey), limit);
  }

  /** Undefined for an unknown, revoked or expired key, and for those of a removed account. */
  async verify(key: string): Promise<Caller | undefined> {
    const row = await validKey.first(this.database.sql, [toHash(key)]);
    return (
      row && {
        ...{ accountId: row.account_id, keyId: row.id, scopes: row.scopes },
        ...(row.expires_at && { expiresAt: row.expires_at }),
      }
    );
  }

  /** That these keys are used now. A key's time is written at most once a minute. */
  async noteUses(keyIds: readonly ApiKeyId[]): Promise<void> {
    await this.database.sql.query(noteUses, [keyIds]);
  }

  /** Whether there is such an account, and it is not removed. */
  async isActive(id: AccountId): Promise<boolean> {
    return (await this.database.sql.query(activeAccount, [id])).length > 0;
  }

  /** Which of these accounts are no longer there. Users of an outside issuer have no keys that end with them. */
  async readRemoved(ids: readonly AccountId[]): Promise<AccountId[]> {
    const active = new Set((await activeAccounts.all(this.database.sql, [ids])).map(({ id }) => id));
    return ids.filter((id) => !active.has(id));
  }

  /** Which of these keys are no longer valid. */
  async readRevoked(keyIds: readonly ApiKeyId[]): Promise<ApiKeyId[]> {
    const rows = await this.database.prisma.apiKey.findMany({
      where: {
        ...{ id: { in: [...keyIds] }, revokedAt: null },
        OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }],
      },
      select: { id: true },
    });
    const good = new Set(rows.map(({ id }) => id));
    return keyIds.filter((id) => !good.has(id));
  }

  /**
   * Idempotent. Rejects with `api_key_not_found`, and with `last_admin_key` for the only admin key of an account, unless that may be
   * revoked. Revocations of one account come one after the other, so that two keys cannot each revoke the other one.
   */
  async revoke({ accountId, keyId, mayBeLast }: KeyToRevoke): Promise<void> {
    await this.database.transaction(async (sql) => {
      await lockAccount(sql, accountId);
      const key = await keyToRevoke.first(sql, [accountId, keyId]);
      if (!key) throw new TerminalError('api_key_not_found', `There is no API key ${keyId}.`);
      if (key.is_revoked) return;
      if (key.is_last_admin && !mayBeLast && accountId !== operatorAccount)
        throw new TerminalError('last_admin_key', `${keyId} is the last admin key. Create another one first.`);
      await sql.query(revokeKey, [keyId]);
    });
  }

  /**
   * Revokes all keys of an account. `Purge` then stops its runs and deletes its data. Idempotent while the account exists;
   * rejects with `account_not_found`, and with `operator_account` for the operator's own account.
   */
  async remove(id: AccountId): Promise<RemovedAccount> {
    if (id === operatorAccount)
      throw new TerminalError('operator_account', 'The account that runs this installation cannot be removed.');
    const row = await removeAccount.first(this.database.sql, [id]);
    if (!row) throw new TerminalError('account_not_found', `There is no account ${id}.`);
    const { name, created_at, removed_at } = row;
    return { id, name, created_at: created_at.toISOString(), removed_at: removed_at.toISOString() };
  }

  /**
   * Makes the configured key an admin key, and revokes the keys that were configured before. A revoked key stays revoked
   * and changes nothing. Gateways may call it concurrently.
   */
  seedAdmin(key: string): Promise<SeededAdmin> {
    const scopes = ['admin'];
    const { id, name, hash, hint } = this.keyRow({ accountId: operatorAccount, name: 'admin', scopes }, key);
    return this.database.transaction(async (sql) => {
      await sql.query(upsertOperator, [operatorAccount]);
      const seeded = await seedKey.first(sql, [id, operatorAccount, name, hash, hint, scopes]);
      if (seeded?.account_id !== operatorAccount)
        throw new TerminalError('admin_key_taken', 'The configured admin key is a key of another account.');

      const isRevoked = seeded.revoked_at !== null;
      if (!isRevoked) await sql.query(revokeSeededBefore, [operatorAccount, seeded.id]);
      return { accountId: operatorAccount, keyId: seeded.id, scopes, isRevoked };
    });
  }

  private async insertAccount(name: string): Promise<Account> {
    const id = accountId.parse(`acc_${this.newId()}`);
    const row = await this.database.prisma.account.create({ data: { id, name: toStoredText(name) } });
    return { id, name: row.name, created_at: row.createdAt.toISOString() };
  }

  private keyRow({ accountId, name, scopes, expiresAt }: KeyToCreate, key: string) {
    const secret = { hash: toHash(key), hint: key.slice(-4) };
    return {
      id: apiKeyId.parse(`key_${this.newId()}`),
      accountId,
      name: toStoredText(name),
      ...secret,
      scopes: [...scopes],
      expiresAt: expiresAt ?? null,
    };
  }
}

const toApiKey = ({ id, name, hint, scopes, createdAt, revokedAt, expiresAt, lastUsedAt }: ApiKeyRow): ApiKey => ({
  id: apiKeyId.parse(id),
  name,
  hint,
  scopes,
  created_at: createdAt.toISOString(),
  revoked_at: revokedAt?.toISOString() ?? null,
  expires_at: expiresAt?.toISOString() ?? null,
  last_used_at: lastUsedAt?.toISOString() ?? null,
});
