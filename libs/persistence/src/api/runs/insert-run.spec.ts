import { StoreFixture } from '../../testing/store-fixture';
import { byThread, onNewThreads } from './insert-run';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

async function explain(statement: string): Promise<string> {
  const parameters = new Set(statement.match(/\$\d+/g)).size;
  const nothing = Array.from({ length: parameters }, () => 'null').join(', ');
  const lines = await fixture.database.transaction(async (sql) => {
    await sql.query(`prepare begin_runs as ${statement}`);
    const plan = await sql.query<{ 'QUERY PLAN': string }>(`explain (costs off) execute begin_runs (${nothing})`);
    await sql.query('deallocate begin_runs');
    return plan;
  });
  return lines.map((line) => line['QUERY PLAN']).join('\n');
}

describe('the plan by which a run joins its thread', () => {
  it('looks up the thread and who waits for it, however many wait for others', async () => {
    const plan = await explain(byThread);

    expect(plan).not.toMatch(/Seq Scan|hashed/);
    expect(plan).toMatch(/Index Scan using threads_pkey on threads\n.+Index Cond: \(id = \S+thread_id\)/);
    expect(plan).toMatch(/using runs_behind_another on runs.*\n.+Index Cond: \(thread_id = \S+thread_id\)/);
  });
});

describe('the plan by which a run begins a thread', () => {
  it('looks up the account and the agent that its settings come from', async () => {
    const plan = await explain(onNewThreads);

    expect(plan).not.toMatch(/Seq Scan|hashed/);
    expect(plan).toMatch(/Index Scan using accounts_pkey on accounts\n.+Index Cond: \(id = \S*account_id\)/);
    expect(plan).toMatch(/Index Scan using agents_one_default_per_account on agents\n.+Index Cond: \(account_id = /);
    expect(plan).toMatch(/Index Scan using agents_\w+ on agents \S+\n.+Index Cond: .*\(?id = \S*thread_agent\)/);
  });
});
