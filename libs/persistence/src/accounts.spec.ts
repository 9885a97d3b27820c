import { Accounts } from './accounts';
import { StoreHouse, mint, newAccount } from './testing/store-house';

let house: StoreHouse;
let accounts: Accounts;
beforeAll(async () => {
  house = await StoreHouse.open();
  accounts = new Accounts(house.database, mint);
});
afterAll(() => house.close());

describe('Accounts', () => {
  it('knows a key by its hash alone (I12)', async () => {
    const { account, apiKey } = await accounts.create({ name: 'Ada\0', scopes: ['runs'] });

    expect(await accounts.verify(apiKey.key)).toEqual({ accountId: account.id, keyId: apiKey.id, scopes: ['runs'] });
    expect(await accounts.verify(`${apiKey.key}x`)).toBeUndefined();
    const rows = await house.database.sql.query<{ row: string }>('select api_keys::text as row from api_keys');
    expect(rows.some(({ row }) => row.includes(apiKey.key))).toBe(false);
  });

  it('lets an account revoke its own keys and nobody else’s', async () => {
    const { account, apiKey } = await accounts.create({ name: 'Bob', scopes: [] });
    const other = await accounts.createKey({ accountId: account.id, name: 'second', scopes: [] });
    const stranger = await newAccount(house.database);

    await expect(accounts.revoke({ accountId: stranger, keyId: apiKey.id })).rejects.toMatchObject({
      code: 'api_key_not_found',
    });
    await accounts.revoke({ accountId: account.id, keyId: apiKey.id });
    await accounts.revoke({ accountId: account.id, keyId: apiKey.id });

    expect(await accounts.verify(apiKey.key)).toBeUndefined();
    expect(await accounts.verify(other.key)).toBeDefined();
    expect(await accounts.revokedOf([apiKey.id, other.id])).toEqual([apiKey.id]);
  });

  it('seeds the admin key once, however many gateways start', async () => {
    const callers = await Promise.all(Array.from({ length: 8 }, () => accounts.seedAdmin('rondo_admin')));

    expect(new Set(callers.map(({ keyId }) => keyId)).size).toBe(1);
    expect(await accounts.verify('rondo_admin')).toEqual(callers[0]);
    expect(callers[0]?.scopes).toEqual(['admin']);
  });
});
