import { AccountSpending } from './account-spending';
import { StoreFixture, usage } from '../testing/store-fixture';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const used = (cost_usd: number | null, input_tokens: number) => usage({ cost_usd, input_tokens, output_tokens: 1 });

describe('what an account has spent', () => {
  it('is the sum over its runs since the period began, with money where the price is known', async () => {
    const spending = new AccountSpending(fixture.database);
    const [first, second] = [await fixture.claimed(), await fixture.claimed()];
    expect(await spending.ofRun(first.runId, 'day')).toEqual({ accountId: fixture.accountId, usd: 0, tokens: 0 });

    await fixture.store.append(first, [used(0.25, 2 ** 31 - 1), used(null, 2 ** 31 - 1)]);
    await fixture.store.append(second, [used(0.5, 7)]);

    const sum = { accountId: fixture.accountId, usd: 0.75, tokens: 2 * (2 ** 31 - 1) + 7 + 3 };
    expect(await spending.ofRun(first.runId, 'day')).toEqual(sum);
    expect(await spending.ofRun(second.runId, 'month')).toEqual(sum);

    const lastYear = `update usage_entries set created_at = created_at - interval '1 year' where run_id = $1`;
    await fixture.database.sql.query(lastYear, [first.runId]);
    expect(await spending.ofRun(first.runId, 'month')).toMatchObject({ usd: 0.5, tokens: 8 });
  });

  it('is found by an index, which leaves the entries of others alone', async () => {
    const rows = await fixture.database.sql.query<{ indexdef: string }>(
      `select indexdef from pg_indexes join pg_class on relname = indexname join pg_index on indexrelid = pg_class.oid
       where tablename = 'usage_entries' and indisvalid and schemaname = current_schema()`,
    );

    expect(rows.map(({ indexdef }) => indexdef)).toContainEqual(expect.stringContaining('(account_id, created_at)'));
  });
});
