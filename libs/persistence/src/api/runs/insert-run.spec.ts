import { StoreFixture } from '../../testing/store-fixture';
import { byThread } from './insert-run';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

describe('the plan by which a run joins its thread', () => {
  it('looks up the thread and who waits for it, however many wait for others', async () => {
    const parameters = new Set(byThread.match(/\$\d+/g)).size;
    const nothing = Array.from({ length: parameters }, () => 'null').join(', ');
    const lines = await fixture.database.transaction(async (sql) => {
      await sql.query(`prepare begin_runs as ${byThread}`);
      return sql.query<{ 'QUERY PLAN': string }>(`explain (costs off) execute begin_runs (${nothing})`);
    });
    const plan = lines.map((line) => line['QUERY PLAN']).join('\n');

    expect(plan).not.toMatch(/Seq Scan|hashed/);
    expect(plan).toMatch(/Index Scan using threads_pkey on threads\n.+Index Cond: \(id = \S+thread_id\)/);
    expect(plan).toMatch(/using runs_behind_another on runs.*\n.+Index Cond: \(thread_id = \S+thread_id\)/);
  });
});
