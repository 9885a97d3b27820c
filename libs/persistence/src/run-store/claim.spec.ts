import { StoreHouse, mint, started } from '../testing/store-house';
import { batchOf } from './batch';
import { writeBatch } from './group-commit';

let house: StoreHouse;
beforeAll(async () => {
  house = await StoreHouse.open();
});
afterAll(() => house.close());

const someoneWaits = `
select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%fruitless%'`;

async function untilSomeoneWaits(): Promise<void> {
  while ((await house.database.sql.query(someoneWaits)).length === 0);
}

describe('a claim', () => {
  it('has the fact that the holder before was still writing (I2, I3)', async () => {
    const before = await house.claimed();
    await house.expireLease(before.runId);
    let claiming: Promise<unknown> = Promise.resolve();

    await house.database.transaction(async (sql) => {
      await writeBatch(sql, batchOf(before, [started], mint));
      claiming = house.store.claim(before.runId, 'worker-2');
      await untilSomeoneWaits();
    });

    expect(await claiming).toMatchObject({
      epoch: 2,
      run: { last_seq: 3 },
      log: [{ type: 'run.created' }, { type: 'message.created' }, { type: 'run.started' }],
    });
  });

  it('reads the log and what was said before to the byte', async () => {
    const first = await house.create();
    const claim = await house.claim(first.run.id);
    const { data } = await house.runs.events(
      { accountId: house.accountId, runId: first.run.id },
      { after: 0, limit: 9 },
    );

    expect(JSON.stringify(claim.log)).toBe(JSON.stringify(data));
    expect(JSON.stringify(claim.log)).toBe(JSON.stringify(first.facts));
  });
});
