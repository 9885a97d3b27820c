import type { Sql } from '../database/sql';
import { StoreFixture, nextId } from '../testing/store-fixture';
import { PostgresRunStore } from './postgres-run-store';

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.open();
});
afterEach(() => fixture.close());

/** Claims take effect, and their answers are lost with the connection. */
function storeThatLosesAnswers(): PostgresRunStore {
  const { database } = fixture;
  const sql: Sql = {
    query: async (text, values) => {
      const rows = await database.sql.query<never>(text, values);
      if (text.includes('fruitless_claims + 1'))
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      return rows;
    },
  };
  const losing = Object.create(database, { sql: { value: sql } }) as typeof database;
  return new PostgresRunStore({ database: losing, newId: nextId });
}

const longAgo = (id: string) =>
  fixture.database.sql.query(`update runs set lease_expires_at = lease_expires_at - interval '3 s' where id = $1`, [
    id,
  ]);

describe('a claim whose answer was lost', () => {
  it.each(['claim', 'claimNext'] as const)('is released by its owner, which lives: %s', async (way) => {
    const store = storeThatLosesAnswers();
    const { run } = await fixture.create();
    const claim = way === 'claim' ? store.claim(run.id, 'worker-1') : store.claimNext('worker-1', () => []);
    await expect(claim).rejects.toThrow('ECONNRESET');
    expect(await fixture.store.claim(run.id, 'worker-2')).toBeUndefined();

    expect(await store.reapDead('worker-1', [])).toBe(0); // its answer might be on its way
    await longAgo(run.id);
    expect(await store.reapDead('worker-1', [])).toBe(1);

    expect((await fixture.store.claim(run.id, 'worker-2'))?.epoch).toBe(2);
  });

  it('takes no run from those that serve theirs', async () => {
    const [held, foreign] = [await fixture.claimed(), await fixture.claimed()];
    await fixture.expireLease(foreign.runId);
    await fixture.claim(foreign.runId, 'worker-2');
    const store = storeThatLosesAnswers();
    const { run } = await fixture.create();
    await expect(store.claim(run.id, 'worker-1')).rejects.toThrow('ECONNRESET');
    for (const id of [held.runId, foreign.runId, run.id]) await longAgo(id);

    expect(await store.reapDead('worker-1', [held])).toBe(1);

    expect((await fixture.store.renew('worker-1', [held])).lost).toEqual([]);
    expect(await fixture.store.claim(foreign.runId, 'worker-3')).toBeUndefined();
  });

  it('is looked for only after an answer was lost', async () => {
    const { runId } = await fixture.claimed();
    await longAgo(runId);

    expect(await fixture.store.reapDead('worker-1', [])).toBe(0);
  });
});
