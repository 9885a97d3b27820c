import { createHash, randomBytes } from 'node:crypto';
import { type AccountId, type ApiKeyId, type Mint, TerminalError, accountId, apiKeyId } from '@rondo/domain';
import type { Database } from './database';
import type { ApiKey as ApiKeyRow } from './generated/client';
import { type Page, type PageRequest, idOfCursor, pageOf } from './page';
import { storedText } from './stored-text';

export interface Account {
  readonly id: AccountId;
  readonly name: string;
  readonly created_at: string;
}

/** `key` is shown this once; only its hash is kept. */
export interface NewApiKey {
  readonly id: ApiKeyId;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly key: string;
  readonly created_at: string;
}

/** A key as it is shown later: `hint` is the end of it, by which its owner may know it. */
export interface ApiKey {
  readonly id: ApiKeyId;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly string[];
  readonly created_at: string;
  readonly revoked_at: string | null;
}

/** Who a key speaks for. */
export interface Caller {
  readonly accountId: AccountId;
  readonly keyId: ApiKeyId;
  readonly scopes: readonly string[];
}

interface KeyWish {
  readonly accountId: AccountId;
  readonly name: string;
  readonly scopes: readonly string[];
}

export class Accounts {
  constructor(
    private readonly database: Database,
    private readonly mint: Mint,
  ) {}

  /** An account with its first key. */
  async create({ name, scopes }: Omit<KeyWish, 'accountId'>): Promise<{ account: Account; apiKey: NewApiKey }> {
    const account = await this.insertAccount(name);
    return { account, apiKey: await this.createKey({ accountId: account.id, name, scopes }) };
  }

  createKey(wish: KeyWish): Promise<NewApiKey> {
    return this.insertKey(wish, `rondo_${randomBytes(24).toString('base64url')}`);
  }

  /** The account's keys, revoked ones too, newest first. Rejects with `invalid_cursor`. */
  async listKeys({ accountId, after, limit }: PageRequest & { accountId: AccountId }): Promise<Page<ApiKey>> {
    const rows = await this.database.prisma.apiKey.findMany({
      where: { accountId, ...(after !== undefined && { id: { lt: idOfCursor(after, apiKeyId) } }) },
      orderBy: { id: 'desc' },
      take: limit + 1,
    });
    return pageOf(rows.map(apiKeyOf), limit);
  }

  /** Undefined for an unknown or revoked key. */
  async verify(key: string): Promise<Caller | undefined> {
    const row = await this.database.prisma.apiKey.findUnique({ where: { hash: hashOf(key) } });
    if (!row || row.revokedAt) return undefined;
    return { accountId: accountId.parse(row.accountId), keyId: apiKeyId.parse(row.id), scopes: row.scopes };
  }

  /** Of these keys, those that are no longer good. */
  async revokedOf(keyIds: readonly ApiKeyId[]): Promise<ApiKeyId[]> {
    const rows = await this.database.prisma.apiKey.findMany({
      where: { id: { in: [...keyIds] }, revokedAt: null },
      select: { id: true },
    });
    const good = new Set(rows.map(({ id }) => id));
    return keyIds.filter((id) => !good.has(id));
  }

  /** Rejects with `api_key_not_found`. Idempotent. */
  async revoke({ accountId, keyId }: { accountId: AccountId; keyId: ApiKeyId }): Promise<void> {
    const key = await this.database.prisma.apiKey.findFirst({ where: { id: keyId, accountId } });
    if (!key) throw new TerminalError('api_key_not_found', `There is no API key ${keyId}.`);
    if (key.revokedAt) return;
    await this.database.prisma.apiKey.update({ where: { id: keyId }, data: { revokedAt: new Date() } });
  }

  /** Makes sure that this key is good and has admin scope. Any number of gateways may do so at once. */
  async seedAdmin(key: string): Promise<Caller> {
    const { prisma } = this.database;
    const [account, scopes, hash] = [accountId.parse('acc_admin'), ['admin'], hashOf(key)];
    const data = this.keyRow({ accountId: account, name: 'admin', scopes }, key);
    await prisma.account.createMany({ data: { id: account, name: 'admin' }, skipDuplicates: true });
    await prisma.apiKey.createMany({ data, skipDuplicates: true });
    const { id } = await prisma.apiKey.update({ where: { hash }, data: { revokedAt: null } });
    return { accountId: account, keyId: apiKeyId.parse(id), scopes };
  }

  private async insertAccount(name: string): Promise<Account> {
    const id = accountId.parse(`acc_${this.mint()}`);
    const row = await this.database.prisma.account.create({ data: { id, name: storedText(name) } });
    return { id, name: row.name, created_at: row.createdAt.toISOString() };
  }

  private async insertKey(wish: KeyWish, key: string): Promise<NewApiKey> {
    const row = await this.database.prisma.apiKey.create({ data: this.keyRow(wish, key) });
    return {
      id: apiKeyId.parse(row.id),
      name: row.name,
      scopes: row.scopes,
      key,
      created_at: row.createdAt.toISOString(),
    };
  }

  private keyRow({ accountId, name, scopes }: KeyWish, key: string) {
    const id = `key_${this.mint()}`;
    return { id, accountId, name: storedText(name), hash: hashOf(key), hint: key.slice(-4), scopes: [...scopes] };
  }
}

const apiKeyOf = ({ id, name, hint, scopes, createdAt, revokedAt }: ApiKeyRow): ApiKey => ({
  id: apiKeyId.parse(id),
  name,
  hint,
  scopes,
  created_at: createdAt.toISOString(),
  revoked_at: revokedAt?.toISOString() ?? null,
});

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');
