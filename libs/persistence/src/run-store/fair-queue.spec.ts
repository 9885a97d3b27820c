import type { AccountId, RunId } from '@rondo/contract';
import type { ClaimedRun, ServedAccount } from '@rondo/domain';
import { StoreFixture, nextId, newAccount } from '../testing/store-fixture';
import { claimNextFair } from './fair-queue';
import { PostgresRunStore } from './postgres-run-store';

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.open();
});
afterEach(() => fixture.close());

const create = async (accountId: AccountId, count: number): Promise<RunId[]> => {
  const ids: RunId[] = [];
  for (let made = 0; made < count; made += 1) ids.push((await fixture.create({ accountId })).run.id);
  return ids;
};

/** Many at once: runs as `create` leaves them, as far as a claim looks at them. */
const fill = (accountId: AccountId, count: number) =>
  fixture.database.transaction(async (sql) => {
    const name = `${accountId}_`;
    await sql.query(`insert into threads (id, account_id) select $1 || n, $2 from generate_series(1, $3::int) as n`, [
      `thr_${name}`,
      accountId,
      count,
    ]);
    await sql.query(
      `insert into runs (id, account_id, thread_id, status, profile, model, settings, holds_thread, past_through, activation, activated_at)
      select $1 || n, $2, $3 || n, 'queued', 'suna', 'demo/coder', '{}', true, 0, 1, clock_timestamp() from generate_series(1, $4::int) as n`,
      [`run_${name}`, accountId, `thr_${name}`, count],
    );
  });

const next = async (served: readonly ServedAccount[] = []): Promise<ClaimedRun> => {
  const claim = await fixture.store.claimNext('worker-1', () => served);
  if (!claim) throw new Error('a run was due');
  return claim;
};

describe('claimNext', () => {
  it('takes the runs of one account in the order in which they came', async () => {
    const ids = await create(fixture.accountId, 4);

    const taken = [await next(), await next(), await next(), await next()];

    expect(taken.map(({ runId }) => runId)).toEqual(ids);
    expect(await fixture.store.claimNext('worker-1', () => [])).toBeUndefined();
  });

  it('claims as a claim by name does: with an epoch, a lease, and everything that the run goes on from', async () => {
    const [id] = await create(fixture.accountId, 1);

    const claim = await next();

    expect(claim).toMatchObject({ runId: id, accountId: fixture.accountId, epoch: 1, fruitlessClaims: 0 });
    expect(claim.log.map(({ type }) => type)).toEqual(['run.created', 'message.created']);
    expect(await fixture.store.renew('worker-1', [claim])).toEqual({ lost: [], stops: [], told: [] });
  });

  it('goes to the account of which the fewest runs are held, and then to the one that was served longest ago', async () => {
    const other = await newAccount(fixture.database);
    const third = await newAccount(fixture.database);
    await create(fixture.accountId, 3);
    await create(other, 3);
    await create(third, 3);
    const served = (accountId: AccountId, held: number) => ({ accountId, held });

    expect(await next([served(other, 1), served(third, 2), served(fixture.accountId, 0)])).toMatchObject({
      accountId: fixture.accountId,
    });
    expect(await next([served(third, 1), served(other, 1), served(fixture.accountId, 1)])).toMatchObject({
      accountId: third,
    });
    expect(await next([served(third, 0), served(fixture.accountId, 0)])).toMatchObject({ accountId: other });
  });

  it('lets those that are asked for in one moment take turns, too', async () => {
    const other = await newAccount(fixture.database);
    await create(fixture.accountId, 6);
    await create(other, 6);

    const taken = await Promise.all(Array.from({ length: 6 }, () => fixture.store.claimNext('worker-1', () => [])));

    expect(taken.filter((claim) => claim?.accountId === other)).toHaveLength(3);
    expect(taken.filter((claim) => claim?.accountId === fixture.accountId)).toHaveLength(3);
  });

  it('gives each of several workers that ask at once a run of its own (I3)', async () => {
    await create(fixture.accountId, 20);
    const stores = Array.from({ length: 4 }, () => new PostgresRunStore({ database: fixture.database, newId: nextId }));

    const taken = await Promise.all(
      stores.flatMap((store, worker) => Array.from({ length: 5 }, () => store.claimNext(`worker-${worker}`, () => []))),
    );

    expect(new Set(taken.map((claim) => claim?.runId)).size).toBe(20);
  });

  it('puts a run that was handed over behind those of its account that wait already', async () => {
    const [first, second] = await create(fixture.accountId, 2);
    await fixture.store.handOver(await next());

    expect([(await next()).runId, (await next()).runId]).toEqual([second, first]);
  });

  it('leaves runs alone that are held, that wait for a person, or that are the summarizers’', async () => {
    const [held] = await create(fixture.accountId, 1);
    await fixture.database.sql.query(
      `update runs set lease_owner = 'other', lease_expires_at = 'epoch' where id = $1`,
      [held],
    );

    expect(await fixture.store.claimNext('worker-1', () => [])).toBeUndefined();
    expect(await fixture.compactions.claimNext('worker-1', () => [])).toBeUndefined();
  });

  it('goes on behind the last account that it has seen where there are hundreds, and forgets none', async () => {
    const accounts = await Promise.all(Array.from({ length: 300 }, () => newAccount(fixture.database)));
    for (const account of accounts) await fill(account, 1);

    const taken = new Set<RunId>();
    for (let claims = 0; claims < 300; claims += 1) taken.add((await next()).runId);

    expect(taken.size).toBe(300);
    expect(await fixture.store.claimNext('worker-1', () => [])).toBeUndefined();
  });

  it('counts a run that cannot be read, and serves the next', async () => {
    const [spoilt, healthy] = await create(fixture.accountId, 2);
    await fixture.database.sql.query(`update run_events set at = 'infinity' where run_id = $1 and seq = 2`, [spoilt]);

    const outcomes = await Promise.allSettled([
      fixture.store.claimNext('worker-1', () => []),
      fixture.store.claimNext('worker-1', () => []),
    ]);

    expect(outcomes).toMatchObject([
      { status: 'rejected', reason: { runId: spoilt, fruitlessClaims: 1 } },
      { status: 'fulfilled', value: { runId: healthy } },
    ]);
  });

  it('looks at the head of each line by the index, whatever the tables hold', async () => {
    const empty = await fixture.explain(claimNextFair);
    await fill(fixture.accountId, 10_000);
    await fixture.database.sql.query('analyze runs');

    for (const plan of [empty, await fixture.explain(claimNextFair)]) {
      expect(plan).not.toMatch(/Seq Scan/);
      expect(plan.match(/using runs_in_line on runs/g)).toHaveLength(3);
    }
  });
});
