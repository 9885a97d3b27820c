import { Accounts } from './accounts';
import { StoreFixture, nextId, newAccount } from '../testing/store-fixture';

let fixture: StoreFixture;
let accounts: Accounts;
beforeAll(async () => {
  fixture = await StoreFixture.open();
  accounts = new Accounts(fixture.database, nextId);
});
afterAll(() => fixture.close());

describe('Accounts', () => {
  it('knows a key by its hash alone (I12)', async () => {
    const { account, apiKey } = await accounts.create({ name: 'Ada\0', scopes: ['runs'] });

    expect(await accounts.verify(apiKey.key)).toEqual({ accountId: account.id, keyId: apiKey.id, scopes: ['runs'] });
    expect(await accounts.verify(`${apiKey.key}x`)).toBeUndefined();
    const rows = await fixture.database.sql.query<{ row: string }>('select api_keys::text as row from api_keys');
    expect(rows.some(({ row }) => row.includes(apiKey.key))).toBe(false);
  });

  it('lets an account revoke its own keys but not those of another account', async () => {
    const { account, apiKey } = await accounts.create({ name: 'Bob', scopes: [] });
    const other = await accounts.createKey({ accountId: account.id, name: 'second', scopes: [] });
    const stranger = await newAccount(fixture.database);

    await expect(accounts.revoke({ accountId: stranger, keyId: apiKey.id })).rejects.toMatchObject({
      code: 'api_key_not_found',
    });
    await accounts.revoke({ accountId: account.id, keyId: apiKey.id });
    await accounts.revoke({ accountId: account.id, keyId: apiKey.id });

    expect(await accounts.verify(apiKey.key)).toBeUndefined();
    expect(await accounts.verify(other.key)).toBeDefined();
    expect(await accounts.readRevoked([apiKey.id, other.id])).toEqual([apiKey.id]);
  });

  it('keeps the last valid admin key of an account, unless it may be the last', async () => {
    const { account, apiKey } = await accounts.create({ name: 'Cleo', scopes: ['admin'] });
    const accountId = account.id;
    const first = { accountId, keyId: apiKey.id };
    const isLast = { code: 'last_admin_key' };
    await accounts.createKey({ accountId, name: 'no admin', scopes: ['write'] });
    await accounts.createKey({ accountId, name: 'over', scopes: ['admin'], expiresAt: new Date(Date.now() - 1_000) });
    await expect(accounts.revoke(first)).rejects.toMatchObject(isLast);

    const { id } = await accounts.createKey({ accountId, name: 'second', scopes: ['admin'] });
    const both = await Promise.allSettled([first, { accountId, keyId: id }].map((key) => accounts.revoke(key)));
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: isLast });

    for (const keyId of [apiKey.id, id]) await accounts.revoke({ accountId, keyId, mayBeLast: true });
    expect(await accounts.readRevoked([apiKey.id, id])).toEqual([apiKey.id, id]);
  });

  it('seeds the admin key once, however many gateways start', async () => {
    const callers = await Promise.all(Array.from({ length: 8 }, () => accounts.seedAdmin('rondo_admin')));

    expect(new Set(callers.map(({ keyId }) => keyId)).size).toBe(1);
    expect(callers[0]).toEqual({ ...(await accounts.verify('rondo_admin')), isRevoked: false });
    expect(callers[0]?.scopes).toEqual(['admin']);
  });
});

describe('attack: tenants', () => {
  beforeEach(() => fixture.database.sql.query(`delete from api_keys where account_id = 'acc_admin'`));

  it('a stolen admin key that was revoked, after every gateway was started again with it', async () => {
    const { accountId, keyId } = await accounts.seedAdmin('rondo_stolen');
    await accounts.revoke({ accountId, keyId });

    const seeded = await Promise.all([accounts.seedAdmin('rondo_stolen'), accounts.seedAdmin('rondo_stolen')]);

    expect(seeded.map(({ isRevoked }) => isRevoked)).toEqual([true, true]);
    expect(await accounts.verify('rondo_stolen')).toBeUndefined();
  });

  it('the admin key of the configuration before, once another one is configured', async () => {
    const { accountId } = await accounts.seedAdmin('rondo_old');
    const { key: made } = await accounts.createKey({ accountId, name: 'admin', scopes: ['admin'] });

    await Promise.all([accounts.seedAdmin('rondo_new'), accounts.seedAdmin('rondo_new')]);
    await accounts.seedAdmin('rondo_old');

    expect(await accounts.verify('rondo_old')).toBeUndefined();
    expect(await accounts.verify('rondo_new')).toMatchObject({ accountId, scopes: ['admin'] });
    expect(await accounts.verify(made)).toBeDefined();
  });

  it('a revoked key that is configured again leaves the one that is good alone', async () => {
    const { accountId, keyId } = await accounts.seedAdmin('rondo_first');
    await accounts.revoke({ accountId, keyId });
    await accounts.seedAdmin('rondo_second');

    await accounts.seedAdmin('rondo_first');

    expect(await accounts.verify('rondo_second')).toBeDefined();
  });

  it('gateways that are configured differently and start at once leave one key good', async () => {
    await Promise.all(['rondo_a', 'rondo_b', 'rondo_c'].map((key) => accounts.seedAdmin(key)));

    const good = await Promise.all(['rondo_a', 'rondo_b', 'rondo_c'].map((key) => accounts.verify(key)));
    expect(good.filter((caller) => caller !== undefined)).toHaveLength(1);
  });

  it('a configured admin key that belongs to another account gives that account no rights', async () => {
    const { apiKey } = await accounts.create({ name: 'tenant', scopes: ['admin'] });

    await expect(accounts.seedAdmin(apiKey.key)).rejects.toThrow('another account');
  });
});
