import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { openDatabase } from '../database/database';
import { announce, acquireLock } from '../database/liveness-lock';
import type { Sql } from '../database/sql';
import { PgBouncer, pgbouncer } from '../testing/pgbouncer';
import { StoreFixture } from '../testing/store-fixture';
import { reapDeadEveryMs } from './postgres-run-store';
import { Reaper } from './reaper';

let fixture: StoreFixture;
let reaper: Reaper;
const missingLockMs = 100;
const builtDatabase = join(__dirname, '../../dist/database/database.js');
const holders: Client[] = [];
beforeEach(async () => {
  fixture = await StoreFixture.open();
  reaper = new Reaper(fixture.database.sql, { missingLockMs });
});
afterEach(async () => {
  await Promise.all(holders.splice(0).map((holder) => holder.end()));
  await fixture.close();
});

/** The connection of a process that holds the lock of its name. It is not opened again after it is cut. */
async function present(owner: string): Promise<{ die(): Promise<void> }> {
  const client = new Client({ connectionString: fixture.database.url });
  client.on('error', () => {});
  await client.connect();
  holders.push(client);
  const { rows } = await client.query<{ pid: number }>(acquireLock, [owner]);
  await client.query(announce, [owner]);
  const pid = rows[0]?.pid;
  const die = async () => {
    await fixture.database.sql.query('select pg_terminate_backend($1)', [pid]);
    while ((await fixture.database.sql.query('select from pg_locks where pid = $1', [pid])).length > 0);
  };
  return { die };
}

/** Two looks, as far apart as an absence must last. */
async function lookTwice(by = reaper): Promise<number[]> {
  const first = await by.reapDead();
  await sleep(missingLockMs + 5);
  return [first, await by.reapDead()];
}

const findOwner = async (id: string) =>
  (await fixture.database.prisma.run.findUniqueOrThrow({ where: { id } })).leaseOwner;

describe('reapDead', () => {
  it('queues the runs of a dead holder, and no others, long before their leases expire', async () => {
    const first = await present('worker-1');
    await present('worker-2');
    const [left, alsoLeft, kept] = [
      await fixture.claimed(),
      await fixture.claimed(),
      await fixture.claimed('worker-2'),
    ];
    await fixture.published();
    expect(await lookTwice()).toEqual([0, 0]);

    await first.die();

    expect(await lookTwice()).toEqual([0, 2]);
    const queued = (await fixture.published()).map(({ key }) => key);
    expect(queued.sort()).toEqual([`${left.runId}-2`, `${alsoLeft.runId}-2`].sort());
    expect(await findOwner(kept.runId)).toBe('worker-2');
    expect((await fixture.store.renew('worker-1', [left])).lost).toEqual([left.runId]);
    expect((await fixture.claim(left.runId, 'worker-2')).epoch).toBe(2);
  });

  it('queues them once when many look', async () => {
    const holder = await present('worker-1');
    await Promise.all(Array.from({ length: 5 }, () => fixture.claimed()));
    const reapers = Array.from({ length: 4 }, () => new Reaper(fixture.database.sql, { missingLockMs }));
    await holder.die();

    const found = await Promise.all(reapers.map((one) => lookTwice(one)));

    expect(found.flat().reduce((sum, count) => sum + count, 0)).toBe(5);
  });

  it('queues what was off the queue and not claimed yet', async () => {
    const holder = await present('worker-1');
    const { run } = await fixture.create();
    await fixture.published();
    await sleep(missingLockMs);
    await holder.die();

    expect(await lookTwice()).toEqual([0, 1]);
    expect(await fixture.published()).toMatchObject([{ key: `${run.id}-2` }]);
  });

  it('leaves a holder that is back in time', async () => {
    const holder = await present('worker-1');
    const { runId } = await fixture.claimed();
    await holder.die();
    await reaper.reapDead();

    await present('worker-1');
    await sleep(missingLockMs);

    expect(await lookTwice()).toEqual([0, 0]);
    expect(await findOwner(runId)).toBe('worker-1');
  });

  it('leaves a frozen holder, and one that never showed itself, to their leases', async () => {
    await present('frozen');
    const [frozen, unknown] = [await fixture.claimed('frozen'), await fixture.claimed('unknown')];

    expect(await lookTwice()).toEqual([0, 0]);

    await Promise.all([frozen, unknown].map(({ runId }) => fixture.expireLease(runId)));
    expect(await new Reaper(fixture.database.sql, { leaseMs: 1 }).reap()).toBe(2);
  });

  it('leaves a holder that was wrongly taken for dead to its leases, until it shows itself again', async () => {
    const holder = await present('worker-1');
    await fixture.claimed();
    await holder.die();
    expect(await lookTwice()).toEqual([0, 1]);

    const later = await fixture.claimed();

    expect(await lookTwice()).toEqual([0, 0]);
    expect(await findOwner(later.runId)).toBe('worker-1');
  });

  it('leaves everybody who has not been seen since Postgres was started', async () => {
    const holder = await present('worker-1');
    const { runId } = await fixture.claimed();
    await holder.die();
    await fixture.database.sql.query(`update presences set postgres_since = postgres_since - interval '1 h'`);

    expect(await lookTwice()).toEqual([0, 0]);
    expect(await findOwner(runId)).toBe('worker-1');
  });

  it('waits one lease after it could not reach Postgres', async () => {
    let away = false;
    const sql: Sql = {
      query: (text, values) =>
        away ? Promise.reject(new Error('connection refused')) : fixture.database.sql.query(text, values),
    };
    const cutOff = new Reaper(sql, { missingLockMs, leaseMs: 500 });
    const holder = await present('worker-1');
    await fixture.claimed();
    await holder.die();
    away = true;
    await expect(cutOff.reapDead()).rejects.toThrow('connection refused');
    away = false;

    const backMs = performance.now();
    while ((await cutOff.reapDead()) === 0) await sleep(10);
    expect(performance.now() - backMs).toBeGreaterThanOrEqual(500);
  });

  describe('behind a pooler', () => {
    const beat = (owner: string, secondsAgo: number, startedHoursAgo = 0) =>
      fixture.database.sql.query(
        `insert into heartbeats (owner, beat_at, postgres_since) values ($1,
          clock_timestamp() - $2::int * interval '1 s', pg_postmaster_start_time() - $3::int * interval '1 h')`,
        [owner, secondsAgo, startedHoursAgo],
      );

    it('queues the runs of a holder whose beats are late, and no others', async () => {
      await Promise.all([beat('worker-1', 10), beat('worker-2', 1)]);
      const [left, kept] = [await fixture.claimed(), await fixture.claimed('worker-2')];
      await fixture.published();

      expect(await lookTwice()).toEqual([0, 1]);

      expect(await fixture.published()).toMatchObject([{ key: `${left.runId}-2` }]);
      expect(await findOwner(kept.runId)).toBe('worker-2');
      expect(await fixture.database.sql.query('select owner from heartbeats')).toEqual([{ owner: 'worker-2' }]);
    });

    it('leaves every holder where all beats are late: Postgres or the pooler was away', async () => {
      await Promise.all([beat('worker-1', 60), beat('worker-2', 61)]);
      const { runId } = await fixture.claimed();

      expect(await lookTwice()).toEqual([0, 0]);
      expect(await findOwner(runId)).toBe('worker-1');
    });

    it('leaves a holder that has not beaten since Postgres was started', async () => {
      await Promise.all([beat('worker-1', 60, 1), beat('worker-2', 0)]);
      const { runId } = await fixture.claimed();

      expect(await lookTwice()).toEqual([0, 0]);
      expect(await findOwner(runId)).toBe('worker-1');
    });

    (pgbouncer === undefined ? it.skip : it)('queues the runs of a process that was killed', async () => {
      const pooler = await PgBouncer.readInFront(fixture.database.url, 'transaction');
      const program = `require(process.argv[1]).openDatabase({ url: process.argv[2], poolSize: 1, leaseOwner: 'worker-1' });
        setInterval(() => {}, 1000)`;
      const killed = spawn(process.execPath, ['-e', program, builtDatabase, pooler.url], { stdio: 'inherit' });
      const survivor = openDatabase({ url: pooler.url, poolSize: 1, leaseOwner: 'worker-2' });
      const beating = () => fixture.database.sql.query('select from heartbeats');
      while ((await beating()).length < 2) await sleep(20);
      const { runId } = await fixture.claimed();
      await fixture.published();

      const asShipped = new Reaper(fixture.database.sql, {});
      killed.kill('SIGKILL');
      let queued = 0;
      while (queued === 0) {
        await sleep(reapDeadEveryMs);
        queued = await asShipped.reapDead();
      }

      expect(await fixture.published()).toMatchObject([{ key: `${runId}-2` }]);
      await survivor.close();
      await pooler.close();
    });
  });
});
