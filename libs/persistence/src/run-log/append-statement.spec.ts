import { StoreFixture, planned, reply } from '../testing/store-fixture';
import { appendStatement } from './append-statement';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const parameters = new Set(appendStatement.match(/\$\d+/g)).size;

/** The one plan that a connection makes, whatever it will be given. */
const plan = () =>
  fixture.database.transaction(async (sql) => {
    await sql.query(`prepare append as ${appendStatement}`);
    const nothing = Array.from({ length: parameters }, () => 'null').join(', ');
    const lines = await sql.query<{ 'QUERY PLAN': string }>(`explain (costs off) execute append (${nothing})`);
    await sql.query('deallocate append');
    return lines.map((line) => line['QUERY PLAN']).join('\n');
  });

const expectKeysOnly = (text: string) => {
  expect(text).not.toMatch(/Seq Scan|Bitmap/);
  expect(text).toMatch(
    /Update on runs.*\n.+Nested Loop\n.+Subquery Scan on batch\n.+Limit\n.+\n.+Sort\n.+Sort Key: .+run_id/,
  );
  expect(text).toMatch(/Index Scan using runs_pkey on runs.*\n.+Index Cond: \(id = batch.run_id\)/);
  expect(text).toMatch(/Index Scan using threads_pkey on threads\n.+Index Cond: \(id = adding.thread_id\)/);
  expect(text).toMatch(/Index Scan using tool_calls_pkey on tool_calls.*\n.+Index Cond: \(id = call_1.id\)/);
};

describe('the plan of the append', () => {
  it('takes runs in the order of their ids, each by its key, while the tables are empty', async () => {
    expectKeysOnly(await plan());
  });

  it('does the same where the tables are so small that to read them whole would be cheaper', async () => {
    for (let run = 0; run < 5; run += 1) {
      const claim = await fixture.claimed();
      await fixture.store.append(claim, [reply(claim, 'Hello.'), planned(claim, { name: 'ask' })]);
    }
    await fixture.database.sql.query('analyze runs, threads, tool_calls');

    expectKeysOnly(await plan());
  });
});
