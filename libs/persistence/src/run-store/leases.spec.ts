import type { Claim } from '@rondo/domain';
import type { Sql } from '../database/sql';
import { StoreFixture, completed, nextId, planned, started } from '../testing/store-fixture';
import { PostgresRunStore } from './postgres-run-store';
import { Reaper } from './reaper';

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.open();
});
afterEach(() => fixture.close());

const leaseMs = 200;
const elapsed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const storeWith = (lease: number) =>
  new PostgresRunStore({ database: fixture.database, newId: nextId, leaseMs: lease });
const createRow = ({ runId }: Claim) => fixture.database.prisma.run.findUniqueOrThrow({ where: { id: runId } });

describe('a lease', () => {
  it('is moved on by a renewal, and lapses by the clock of the database', async () => {
    const store = storeWith(60_000);
    const { run } = await fixture.create();
    const claim = await store.claim(run.id, 'worker-1');
    if (!claim) throw new Error('the run was due');
    const { leaseExpiresAt: first } = await createRow(claim);

    await elapsed(10);
    await store.renew('worker-1', [claim]);

    const { leaseExpiresAt: renewed } = await createRow(claim);
    expect(Number(renewed)).toBeGreaterThan(Number(first));
    expect(await store.claim(run.id, 'worker-2')).toBeUndefined();

    await fixture.expireLease(run.id);
    expect((await store.claim(run.id, 'worker-2'))?.epoch).toBe(2);
  });

  it('is renewed for all runs of an owner in one statement, which tells losses and stops', async () => {
    const [kept, lost, told] = [await fixture.claimed(), await fixture.claimed(), await fixture.claimed()];
    await fixture.expireLease(lost.runId);
    await fixture.claim(lost.runId, 'worker-2');
    await fixture.runs.requestStop({ accountId: fixture.accountId, runId: told.runId, reason: 'enough' });

    const { lost: gone, stops } = await fixture.store.renew('worker-1', [kept, lost, told]);

    expect(gone).toEqual([lost.runId]);
    expect(stops).toEqual([{ runId: told.runId, stop: { requestedAt: expect.any(String), reason: 'enough' } }]);
  });

  it('is lost once the reaper has taken it, even before another claim of the run', async () => {
    const claim = await fixture.claimed();
    await fixture.expireLease(claim.runId);
    await storeWith(1).reap();

    expect((await fixture.store.renew('worker-1', [claim])).lost).toEqual([claim.runId]);
  });

  it('ends with a hand-over, which queues the next activation', async () => {
    const claim = await fixture.claimed();
    await fixture.published();

    await fixture.store.handOver(claim);

    expect(await fixture.published()).toMatchObject([{ key: `${claim.runId}-2` }]);
    expect(await createRow(claim)).toMatchObject({ status: 'queued', leaseOwner: null });
  });

  it('is not handed over twice, nor after the run ended or was taken', async () => {
    const [ended, taken] = [await fixture.claimed(), await fixture.claimed()];
    await fixture.store.append(ended, [started, completed]);
    await fixture.expireLease(taken.runId);
    await fixture.claim(taken.runId, 'worker-2');
    await fixture.published();

    await fixture.store.handOver(ended);
    await fixture.store.handOver(taken);

    expect(await fixture.published()).toEqual([]);
    expect(await createRow(taken)).toMatchObject({ leaseOwner: 'worker-2' });
  });
});

describe('the reaper', () => {
  it('queues the run of a holder that went silent, as often as that happens', async () => {
    const { runId } = await fixture.claimed();

    for (const activation of [2, 3, 4]) {
      await fixture.published();
      await fixture.expireLease(runId);
      expect(await storeWith(1).reap()).toBe(1);
      expect(await fixture.published()).toMatchObject([{ payload: { run_id: runId, activation } }]);
      await fixture.claim(runId, 'worker-2');
    }
  });

  it('leaves living, waiting and ended runs alone', async () => {
    const ended = await fixture.claimed();
    await fixture.store.append(ended, [started, completed]);
    await fixture.claimed();
    await fixture.create();
    await fixture.published();

    expect(await storeWith(1).reap()).toBe(0);
    expect(await fixture.published()).toEqual([]);
  });

  it('adds a job again, under the same id, where one may be missing (I1)', async () => {
    const { run } = await fixture.create();
    await fixture.published();
    await fixture.database.sql.query(`update runs set activated_at = activated_at - interval '6 s' where id = $1`, [
      run.id,
    ]);

    expect(await fixture.store.reap()).toBe(1);
    expect(await fixture.store.reap()).toBe(0);
    expect(await fixture.published()).toMatchObject([{ key: `${run.id}-1` }]);
  });

  it('finds each silent run once when many look', async () => {
    const claims = await Promise.all(Array.from({ length: 10 }, () => fixture.claimed()));
    await Promise.all(claims.map(({ runId }) => fixture.expireLease(runId)));

    const found = await Promise.all(Array.from({ length: 4 }, () => storeWith(1).reap()));

    expect(found.reduce((sum, count) => sum + count, 0)).toBe(10);
  });

  it('brings a stopped run whose holder died to another, which still has calls to settle (I6, I7)', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, planned(claim, { name: 'execute_command' })]);
    await fixture.expireLease(claim.runId);
    await storeWith(1).reap();

    const { run } = await fixture.runs.requestStop({
      accountId: fixture.accountId,
      runId: claim.runId,
      reason: 'enough',
    });
    const next = await fixture.claim(claim.runId, 'worker-2');

    expect(run.status).toBe('stopping');
    expect(next.stop).toMatchObject({ reason: 'enough' });
  });

  it('takes over no run within one lease of the start of Postgres', async () => {
    const { runId } = await fixture.claimed();
    await fixture.expireLease(runId);
    const longerThanThisServerLives = 2_000_000_000;

    expect(await storeWith(longerThanThisServerLives).reap()).toBe(0);
  });

  it('waits one lease after it could not reach Postgres', async () => {
    let away = true;
    const sql: Sql = {
      query: (text, values) =>
        away ? Promise.reject(new Error('connection refused')) : fixture.database.sql.query(text, values),
    };
    const reaper = new Reaper(sql, { leaseMs });
    const { runId } = await fixture.claimed();
    await fixture.expireLease(runId);

    await expect(reaper.reap()).rejects.toThrow('connection refused');
    away = false;
    expect(await reaper.reap()).toBe(0);
    await elapsed(leaseMs);
    expect(await reaper.reap()).toBe(1);
  });
});
