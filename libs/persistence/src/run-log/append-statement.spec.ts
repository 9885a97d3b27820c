import { StoreFixture, planned, reply } from '../testing/store-fixture';
import { appendStatement } from './append-statement';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

/** The plan, in which runs, threads and calls are found by their ids. */
async function expectKeysOnly(): Promise<void> {
  const text = await fixture.explain(appendStatement);
  const [run, thread] = [await fixture.idIndex('runs'), await fixture.idIndex('threads')];
  expect(text).not.toMatch(/Seq Scan|Bitmap/);
  expect(text).toMatch(
    /Update on runs.*\n.+Nested Loop\n.+Subquery Scan on batch\n.+Limit\n.+\n.+Sort\n.+Sort Key: .+run_id/,
  );
  expect(text).toMatch(new RegExp(`Index Scan using ${run} on runs.*\\n.+Index Cond: \\(id = batch.run_id\\)`));
  expect(text).toMatch(new RegExp(`Index Scan using ${thread} on threads\\n.+Index Cond: \\(id = adding.thread_id\\)`));
  expect(text).toMatch(/Index Scan using tool_calls_pkey on tool_calls.*\n.+Index Cond: \(id = call_1.id\)/);
}

describe('the plan of the append', () => {
  it('takes runs in the order of their ids, each by its key, while the tables are empty', async () => {
    await expectKeysOnly();
  });

  it('does the same where the tables are so small that to read them whole would be cheaper', async () => {
    for (let run = 0; run < 5; run += 1) {
      const claim = await fixture.claimed();
      await fixture.store.append(claim, [reply(claim, 'Hello.'), planned(claim, { name: 'ask' })]);
    }
    await fixture.database.sql.query('analyze runs, threads, tool_calls');

    await expectKeysOnly();
  });
});
