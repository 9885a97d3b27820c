import { runId } from '@rondo/contract';
import { Sandboxes } from '../api/sandboxes';
import { StoreFixture, nextId, started } from '../testing/store-fixture';
import { selectForClaim } from './claim-runs';
import { writeFacts } from '../run-log/group-commit';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const someoneWaits = `
select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%fruitless%'`;

async function untilSomeoneWaits(): Promise<void> {
  while ((await fixture.database.sql.query(someoneWaits)).length === 0);
}

describe('a claim', () => {
  it('has the fact that the holder before was still writing (I2, I3)', async () => {
    const before = await fixture.claimed();
    await fixture.expireLease(before.runId);
    let claiming: Promise<unknown> = Promise.resolve();

    await fixture.database.transaction(async (sql) => {
      await writeFacts(sql, before, { facts: [started], newId: nextId });
      claiming = fixture.store.claim(before.runId, 'worker-2');
      await untilSomeoneWaits();
    });

    expect(await claiming).toMatchObject({
      epoch: 2,
      run: { last_seq: 3 },
      log: [{ type: 'run.created' }, { type: 'message.created' }, { type: 'run.started' }],
    });
  });

  it('reads the log and what was said before to the byte', async () => {
    const first = await fixture.create();
    const claim = await fixture.claim(first.run.id);
    const { data } = await fixture.runs.events(
      { accountId: fixture.accountId, runId: first.run.id },
      { after: 0, limit: 9 },
    );

    expect(JSON.stringify(claim.log)).toBe(JSON.stringify(data));
    expect(JSON.stringify(claim.log)).toBe(JSON.stringify(first.facts));
  });

  it('says who hosts the sandbox of its thread', async () => {
    const { run } = await fixture.create();
    const first = await fixture.claim(run.id);
    await new Sandboxes(fixture.database, nextId).keep(first.threadId, 'executor-1');
    await fixture.store.handOver(first);

    expect(first.executorId).toBe(null);
    expect(await fixture.claim(run.id)).toMatchObject({ executorId: 'executor-1' });
  });

  it('is granted to one of those that ask in the same moment, and to each for its own run (I2)', async () => {
    const runs = [(await fixture.create()).run.id, (await fixture.create()).run.id];
    const unknown = runId.parse('run_UNKNOWN');

    const granted = await Promise.all(
      [...runs, unknown, ...runs].map((id, index) => fixture.store.claim(id, `worker-${index}`)),
    );

    for (const id of runs) expect(granted.filter((claim) => claim?.runId === id)).toMatchObject([{ epoch: 1 }]);
    expect(granted.filter((claim) => claim !== undefined)).toHaveLength(2);
  });

  it('finds each run by its key and what belongs to it by theirs, whatever the tables hold', async () => {
    const empty = await fixture.explain(selectForClaim);
    await fixture.claimed();
    await fixture.database.sql.query('analyze runs, run_events, messages, sandboxes');

    for (const text of [empty, await fixture.explain(selectForClaim)]) {
      expect(text).not.toMatch(/Seq Scan/);
      const ofRun = `Index Scan using ${await fixture.idIndex('runs')} on runs\\n.+\\(id = wanted.id\\)`;
      expect(text).toMatch(new RegExp(`Subquery Scan on wanted\\n(.*\\n)+? +-> {2}${ofRun}`));
      expect(text).toMatch(/Index Cond: \(run_id = claimed.id\)/);
      expect(text).toMatch(/Index Cond: \(thread_id = claimed.thread_id\)/);
    }
  });
});
