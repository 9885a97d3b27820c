import { IdempotencyKeys } from './idempotency-keys';
import { StoreHouse, mint, newAccount } from './testing/store-house';

let house: StoreHouse;
let keys: IdempotencyKeys;
beforeAll(async () => {
  house = await StoreHouse.open();
  keys = new IdempotencyKeys(house.database);
});
afterAll(() => house.close());

const request = (requestHash = 'hash-1') => ({ accountId: house.accountId, key: `key-${mint()}`, requestHash });
const response = { status: 202, body: { id: 'run_1', nothing: null }, location: '/v1/runs/run_1' };
const age = ({ key }: { key: string }, interval: string) =>
  house.database.sql.query(`update idempotency_keys set created_at = created_at - $2::interval where key = $1`, [
    key,
    interval,
  ]);

describe('IdempotencyKeys', () => {
  it('lets one of many equal requests through', async () => {
    const first = request();

    const verdicts = await Promise.all(Array.from({ length: 20 }, () => keys.begin(first)));

    expect(verdicts.filter(({ verdict }) => verdict === 'fresh')).toHaveLength(1);
    expect(verdicts.filter(({ verdict }) => verdict === 'in_flight')).toHaveLength(19);
  });

  it('repeats the first answer, and refuses another body under the same key', async () => {
    const first = request();
    await keys.begin(first);
    await keys.finish(first, response);

    expect(await keys.begin(first)).toEqual({ verdict: 'replay', response });
    expect(await keys.begin({ ...first, requestHash: 'hash-2' })).toEqual({ verdict: 'reused' });
  });

  it('refuses another body also while the first is in flight', async () => {
    const first = request();
    await keys.begin(first);

    expect(await keys.begin({ ...first, requestHash: 'hash-2' })).toEqual({ verdict: 'reused' });
  });

  it('lets an abandoned request be made again, and forgets no answer', async () => {
    const first = request();
    await keys.begin(first);
    await keys.abandon(first);
    expect(await keys.begin(first)).toEqual({ verdict: 'fresh' });

    await keys.finish(first, response);
    await keys.abandon(first);
    expect(await keys.begin(first)).toMatchObject({ verdict: 'replay' });
  });

  it('takes over from a gateway that died in the middle, after a minute', async () => {
    const first = request();
    await keys.begin(first);
    await age(first, '59 s');
    expect(await keys.begin(first)).toEqual({ verdict: 'in_flight' });

    await age(first, '2 s');
    expect(await keys.begin(first)).toEqual({ verdict: 'fresh' });
    expect(await keys.begin(first)).toEqual({ verdict: 'in_flight' });
  });

  it('forgets after 24 hours', async () => {
    const [first, second] = [request(), request()];
    for (const one of [first, second]) {
      await keys.begin(one);
      await keys.finish(one, response);
      await age(one, '24 h');
    }

    expect(await keys.begin({ ...first, requestHash: 'hash-2' })).toEqual({ verdict: 'fresh' });
    expect(await keys.prune()).toBe(1);
  });

  it('keeps accounts apart', async () => {
    const first = request();
    await keys.begin(first);

    expect(await keys.begin({ ...first, accountId: await newAccount(house.database) })).toEqual({ verdict: 'fresh' });
  });
});
