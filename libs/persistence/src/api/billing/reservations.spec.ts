import { type AccountId, type RunId } from '@rondo/contract';
import { type AccountTier, type ClaimedRun, ClaimLostError } from '@rondo/domain';
import { PostgresRunStore } from '../../run-store/postgres-run-store';
import { StoreFixture, completed, newAccount, nextId, usage, waits } from '../../testing/store-fixture';
import { Balances } from './balances';
import { Reservations } from './reservations';
import { UsageLedger } from './usage';

let fixture: StoreFixture;
let store: PostgresRunStore;
let balances: Balances;
let reservations: Reservations;
beforeAll(async () => {
  fixture = await StoreFixture.open();
  const { database } = fixture;
  store = new PostgresRunStore({ database, newId: nextId, settlesAt });
  balances = new Balances(database, nextId);
  reservations = new Reservations(database);
});
afterAll(() => fixture.close());

const tier: AccountTier & { usd: number } = { name: 'free', usd: 1, period: 'month' };
const settlesAt = { usual: 1, tiers: { dear: 1.5 } };

const used = (cost_usd: number | null, finish_reason = 'stop') => usage({ cost_usd, finish_reason });

async function limitedAccount(): Promise<AccountId> {
  const accountId = await newAccount(fixture.database);
  await balances.setTier({ accountId, tier });
  return accountId;
}

async function readRun(accountId: AccountId): Promise<ClaimedRun> {
  const { run } = await fixture.create({ accountId });
  return claimed(run.id);
}

async function claimed(id: RunId): Promise<ClaimedRun> {
  const claim = await store.claim(id, 'worker-1');
  if (!claim) throw new Error(`${id} could not be claimed`);
  return claim;
}

const reserve = (claim: ClaimedRun, usd: number, limit = tier) => reservations.reserve({ claim, usd, limit });

const readFunds = async (accountId: AccountId) => {
  const { spentUsd: spent, reservedUsd: reserved, creditUsd: credit } = await balances.of(accountId, () => tier);
  return { spent, reserved, credit };
};

describe('what is reserved for a model call', () => {
  it('becomes what the call cost, in the append that records it', async () => {
    const accountId = await limitedAccount();
    const claim = await readRun(accountId);

    expect(await reserve(claim, 0.5)).toBe('granted');
    expect(await readFunds(accountId)).toEqual({ spent: 0, reserved: 0.5, credit: 0 });
    await store.append(claim, [used(0.2)]);

    expect(await readFunds(accountId)).toEqual({ spent: 0.2, reserved: 0, credit: 0 });
  });

  it('is refused to other runs of the account: for now, or for good', async () => {
    const accountId = await limitedAccount();
    const [one, other] = [await readRun(accountId), await readRun(accountId)];
    await reserve(one, 0.6);

    expect(await reserve(other, 0.5)).toBe('held');
    expect(await reserve(other, 1.1)).toBe('lacking');
    expect(await reserve(other, 0.4)).toBe('granted');
    await store.append(one, [used(0.6)]);
    expect(await reserve(await readRun(accountId), 0.5)).toBe('lacking');
    expect(await readFunds(accountId)).toEqual({ spent: 0.6, reserved: 0.4, credit: 0 });
  });

  it('comes from the credit when the allowance is used up, also beyond it', async () => {
    const accountId = await limitedAccount();
    const claim = await readRun(accountId);
    await balances.give({ accountId, usd: 2, reason: undefined, givenBy: 'key_1', toLimit: () => tier });

    expect(await reserve(claim, 2.5)).toBe('granted');
    await store.append(claim, [used(2.5)]);
    expect(await readFunds(accountId)).toEqual({ spent: 2.5, reserved: 0, credit: 0.5 });

    await store.append(claim, [used(0.75), used(null)]);
    expect(await readFunds(accountId)).toEqual({ spent: 3.25, reserved: 0, credit: -0.25 });
    expect(await reserve(claim, 0)).toBe('lacking');
  });

  it('of a reply that is continued stays for the next call, less what the first one cost', async () => {
    const accountId = await limitedAccount();
    const claim = await readRun(accountId);
    await reserve(claim, 0.5);

    expect(await reserve(claim, 0.2 + 0.5)).toBe('granted');
    await store.append(claim, [used(0.2, 'continued')]);
    expect(await readFunds(accountId)).toEqual({ spent: 0.2, reserved: 0.5, credit: 0 });

    await store.append(claim, [used(0.1, 'continued'), used(0.1)]);
    expect(await readFunds(accountId)).toEqual({ spent: 0.4, reserved: 0, credit: 0 });
  });

  it('stays when the next call is not granted', async () => {
    const accountId = await limitedAccount();
    const claim = await readRun(accountId);
    await reserve(claim, 0.5);

    expect(await reserve(claim, 1.1)).toBe('lacking');
    expect(await readFunds(accountId)).toMatchObject({ reserved: 0.5 });
  });

  it('is one amount for each run: the next call replaces it', async () => {
    const accountId = await limitedAccount();
    const claim = await readRun(accountId);

    for (const usd of [0.9, 0.8, 1]) expect(await reserve(claim, usd)).toBe('granted');

    expect(await readFunds(accountId)).toMatchObject({ reserved: 1 });
  });

  it.each([
    ['ends', completed],
    ['waits', waits],
  ])('is returned when the run %s', async (_, fact) => {
    const accountId = await limitedAccount();
    const claim = await readRun(accountId);
    await reserve(claim, 0.5);

    await store.append(claim, [fact]);

    expect(await readFunds(accountId)).toMatchObject({ reserved: 0 });
  });

  it('stays when the claim is lost: the next one records what the call of the lost one has cost (I3)', async () => {
    const accountId = await limitedAccount();
    const [lost, other] = [await readRun(accountId), await readRun(accountId)];
    await reserve(lost, 0.6);
    await store.handOver(lost);
    await reservations.releaseAbandoned();
    const next = await claimed(lost.runId);
    await reservations.releaseAbandoned();

    expect(await reserve(other, 0.5)).toBe('held');
    await expect(reserve(lost, 0.1)).rejects.toThrow(ClaimLostError);
    await expect(store.append(lost, [used(0.5)])).rejects.toThrow(ClaimLostError);
    await store.append(next, [used(0.5, 'broken')]);
    expect(await reserve(other, 0.5)).toBe('granted');
    expect(await readFunds(accountId)).toEqual({ spent: 0.5, reserved: 0.5, credit: 0 });
  });

  it('of a lost claim is returned when the next call has to wait, so that two such runs do not wait for each other', async () => {
    const accountId = await limitedAccount();
    const lost = [await readRun(accountId), await readRun(accountId)];
    for (const claim of lost) {
      await reserve(claim, 0.5);
      await store.handOver(claim);
    }
    const [one, other] = await Promise.all(lost.map(({ runId }) => claimed(runId)));
    if (!one || !other) throw new Error('both are claimed');

    expect(await reserve(one, 0.6)).toBe('held');
    expect(await reserve(other, 0.6)).toBe('granted');
    expect(await readFunds(accountId)).toEqual({ spent: 0, reserved: 0.6, credit: 0 });
  });

  it('is returned when no worker has claimed the run for long, or the run is deleted', async () => {
    const accountId = await limitedAccount();
    const impatient = new Reservations(fixture.database, 0);
    const [one, other] = [await readRun(accountId), await readRun(accountId)];
    await reserve(one, 0.3);
    await reserve(other, 0.3);
    await store.handOver(one);
    await fixture.database.sql.query('delete from runs where id = $1', [other.runId]);

    await reservations.releaseAbandoned();
    expect(await readFunds(accountId)).toMatchObject({ reserved: 0.3 });
    await impatient.releaseAbandoned();
    expect(await readFunds(accountId)).toMatchObject({ reserved: 0 });
  });
});

/** Statements that wait for a lock, of those that begin with a text. */
const waiting = `select from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and ltrim(query, E'\\n') like $1 || '%'`;

/** Resolves when the statement waits for a lock, or has ended. */
async function untilItWaits(statement: Promise<unknown>, beginning: string): Promise<void> {
  const ended = statement.then(
    () => true,
    () => true,
  );
  const isWaiting = async () => (await fixture.database.sql.query(waiting, [beginning])).length > 0;
  while (!(await Promise.race([ended, isWaiting()])));
}

describe('a reservation of a lost claim', () => {
  it('is replaced by that of the next claim while it is released, without a deadlock', async () => {
    const accountId = await limitedAccount();
    const atOnce = new Reservations(fixture.database, 0);
    const lost = await readRun(accountId);
    await reserve(lost, 0.5);
    await store.handOver(lost);

    const outcomes = await fixture.database.transaction(async (holder) => {
      await holder.query('select from account_balances where account_id = $1 for update', [accountId]);
      const released = atOnce.releaseAbandoned();
      await untilItWaits(released, 'with abandoned');
      const reserved = reserve(await claimed(lost.runId), 0.3);
      await untilItWaits(reserved, 'with run as');
      return { both: Promise.allSettled([reserved, released]) };
    });

    expect(await outcomes.both).toMatchObject([{ value: 'granted' }, { status: 'fulfilled' }]);
    await atOnce.releaseAbandoned();
    expect(await readFunds(accountId)).toEqual({ spent: 0, reserved: 0.3, credit: 0 });
  });
});

describe('a price factor', () => {
  const dear = { ...tier, name: 'dear', usd: 10 };
  const readEntries = async (accountId: AccountId) => {
    const always = { from: new Date(0), to: new Date('2100-01-01') };
    const { data } = await new UsageLedger(fixture.database).entries({ ...always, accountId, limit: 10 });
    return data.map(({ cost_usd, price_factor, charged_usd }) => [cost_usd, price_factor, charged_usd]);
  };

  it('is charged to the balance and kept with the entry, while the run has its cost', async () => {
    const accountId = await newAccount(fixture.database);
    await balances.setTier({ accountId, tier: dear });
    const claim = await readRun(accountId);
    await reserve(claim, 0.9, dear);

    await store.append(claim, [used(0.2), used(null)]);

    expect(await readFunds(accountId)).toEqual({ spent: 0.3, reserved: 0, credit: 0 });
    const entries = await readEntries(accountId);
    expect(entries).toHaveLength(2);
    expect(entries).toEqual(
      expect.arrayContaining([
        [0.2, 1.5, 0.3],
        [null, 1.5, null],
      ]),
    );
    const run = await fixture.runs.get({ accountId, runId: claim.runId });
    expect(run.usage.cost_usd).toBeNull();
  });

  it('of an account comes before that of its tier, until its tier is set without one', async () => {
    const accountId = await newAccount(fixture.database);
    const claim = await readRun(accountId);
    await balances.setTier({ accountId, tier: dear, priceFactor: 3 });
    expect(await reservations.toTerms(accountId)).toEqual({ tier: 'dear', priceFactor: 3 });
    await store.append(claim, [used(0.1)]);

    await balances.setTier({ accountId, tier: dear });
    await store.append(claim, [used(0.2)]);

    expect(await reservations.toTerms(accountId)).toEqual({ tier: 'dear', priceFactor: null });
    expect((await readEntries(accountId)).toSorted()).toEqual([
      [0.1, 3, 0.3],
      [0.2, 1.5, 0.3],
    ]);
    expect(await readFunds(accountId)).toMatchObject({ spent: 0.6 });
  });

  it('of another tier does not change what was charged before, also where the balance is counted anew', async () => {
    const accountId = await newAccount(fixture.database);
    await balances.setTier({ accountId, tier: dear });
    const claim = await readRun(accountId);
    await store.append(claim, [used(0.2)]);

    await balances.setTier({ accountId, tier });

    expect(await readFunds(accountId)).toMatchObject({ spent: 0.3 });
    await store.append(claim, [used(0.2)]);
    expect(await readFunds(accountId)).toMatchObject({ spent: 0.5 });
  });

  it('is reserved and released with a reply that is continued', async () => {
    const accountId = await newAccount(fixture.database);
    await balances.setTier({ accountId, tier: dear });
    const claim = await readRun(accountId);
    await reserve(claim, 0.3 + 0.6, dear);

    await store.append(claim, [used(0.2, 'continued')]);

    expect(await readFunds(accountId)).toEqual({ spent: 0.3, reserved: 0.6, credit: 0 });
  });
});

describe('the balance of an account', () => {
  it('is counted from the ledger at the first call, and for another period', async () => {
    const accountId = await newAccount(fixture.database);
    const claim = await readRun(accountId);
    await store.append(claim, [used(0.4)]);

    expect(await reserve(claim, 0.5)).toBe('uncounted');
    await reservations.count(accountId, tier);
    expect(await reserve(claim, 0.5)).toBe('granted');
    const daily = { ...tier, period: 'day' as const };
    expect(await reserve(claim, 0.5, daily)).toBe('uncounted');
    await reservations.count(accountId, daily);

    const { spentUsd, reservedUsd } = await balances.of(accountId, () => daily);
    expect([spentUsd, reservedUsd]).toEqual([0.4, 0.5]);
  });

  it('begins anew with the period', async () => {
    const accountId = await limitedAccount();
    const claim = await readRun(accountId);
    await store.append(claim, [used(1)]);
    await fixture.database.sql.query(
      `update account_balances set period_start = period_start - interval '1 month' where account_id = $1`,
      [accountId],
    );

    expect(await reserve(claim, 0.9)).toBe('granted');
    await store.append(claim, [used(0.25)]);
    expect(await readFunds(accountId)).toEqual({ spent: 0.25, reserved: 0, credit: 0 });
  });

  it('is not touched by stores that settle nothing', async () => {
    const accountId = await limitedAccount();
    const claim = await readRun(accountId);

    await fixture.store.append(claim, [used(0.4)]);

    expect(await readFunds(accountId)).toMatchObject({ spent: 0 });
  });
});
