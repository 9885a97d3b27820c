import { StoreFixture, newAccount } from '../../testing/store-fixture';
import { lastExecution } from './executions';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

describe('the newest execution of each trigger', () => {
  it('is found by an index, with its run', async () => {
    const { sql } = fixture.database;
    const account = await newAccount(fixture.database);
    await sql.query(
      `insert into triggers (id, account_id, kind, name, run, overlap)
       select 'whk_p' || n, $1, 'webhook', 'issues', '{}', 'allow' from generate_series(1, 50) as n`,
      [account],
    );
    await sql.query(
      `with made as (
        insert into threads (id, account_id) select 'thr_p' || n, $1 from generate_series(1, 5000) as n returning id
      )
      insert into runs (id, account_id, thread_id, status, profile, model, settings, holds_thread, finished_at)
      select 'run_p' || substr(id, 6), $1, id, 'completed', 'suna', 'demo/coder', '{}', false, now() from made`,
      [account],
    );
    await sql.query(
      `insert into trigger_executions (id, trigger_id, status, webhook_id, run_id)
       select 'exc_p' || n, 'whk_p' || 1 + n % 50, 'started', n, 'run_p' || n from generate_series(1, 5000) as n`,
    );
    for (const table of ['triggers', 'trigger_executions', 'runs', 'threads'])
      await sql.query(`vacuum analyze ${table}`);
    const plan = await fixture.explain(
      `select ${lastExecution} from triggers where account_id = '${account}' order by id desc limit 20`,
    );

    expect(plan).toMatch(/Index Scan.* using trigger_executions_trigger_id_id_idx/);
    expect(plan).toMatch(/Index Scan using runs_pkey/);
    expect(plan).not.toMatch(/Seq Scan on (trigger_executions|runs|threads)/);
  });
});
