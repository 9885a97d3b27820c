import { epochsPerIncarnation } from '@rondo/contract';
import { StoreFixture } from '../../testing/store-fixture';
import { readRewinds, selectRewinds } from './log-rewinds';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

describe('the rewinds of a run', () => {
  it('say for each replaced database from where on its log was written anew', async () => {
    const { sql } = fixture.database;
    const { runId: id } = await fixture.claimed();
    const [run] = await sql.query<{ last_seq: number }>('select last_seq from runs where id = $1', [id]);
    const last = run?.last_seq ?? NaN;
    const replaced = 2 * epochsPerIncarnation;
    const epoch = replaced + 1;
    await sql.query('update runs set epoch = $2 where id = $1', [id, epoch]);
    const nothingSince = await readRewinds(sql, { id, epoch });
    await sql.query('update run_events set epoch = $2 where run_id = $1 and seq = $3', [id, epoch, last]);

    expect(nothingSince.map(({ from }) => from)).toEqual([last + 1, last + 1]);
    expect(await readRewinds(sql, { id, epoch })).toEqual([
      { from: last, epoch: epochsPerIncarnation },
      { from: last, epoch: replaced },
    ]);
  });

  it('are read from the facts of this run alone', async () => {
    const plan = await fixture.explain(selectRewinds.text);

    expect(plan).toMatch(/Scan .*run_events.*\n +Index Cond: \(?\(run_id = \$1\)/);
  });
});
