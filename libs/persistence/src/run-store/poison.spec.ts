import type { NewFact } from '@rondo/contract';
import type { Claim } from '@rondo/domain';
import { StoreFixture, planned, textInput, settings, reply, started } from '../testing/store-fixture';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const claimMany = (count: number) => Promise.all(Array.from({ length: count }, () => fixture.claimed()));

const readSeqs = async ({ runId }: Claim): Promise<number[]> => {
  const { data } = await fixture.runs.events({ accountId: fixture.accountId, runId }, { after: 0, limit: 1000 });
  return data.map(({ seq }) => seq);
};

const nested = (depth: number): unknown => {
  let value: unknown = [];
  for (let level = 1; level < depth; level += 1) value = [value];
  return value;
};

/** Whatever is first occupies the writer, so that the others leave together in the next statement. */
async function appendTogether(busy: Claim, appends: readonly (readonly [Claim, readonly NewFact[]])[]) {
  const first = fixture.store.append(busy, [started]);
  const outcomes = await Promise.allSettled(appends.map(([claim, facts]) => fixture.store.append(claim, facts)));
  await first;
  return outcomes.map(({ status }) => status);
}

/** What `statement_timeout` does to a statement that waits for a lock. */
const cutShort = `select pg_cancel_backend(pid) from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query like '%with written as%'`;

describe('attack: tenants', () => {
  it('NUL and half a character in a text, a tool’s name and its arguments, beside other accounts’ facts', async () => {
    const bad = 'a\0b\uD800c';
    const [busy, hostile, stranger] = await claimMany(3);
    if (!busy || !hostile || !stranger) throw new Error('three runs were claimed');

    const outcomes = await appendTogether(busy, [
      [hostile, [reply(hostile, bad), planned(hostile, { name: bad, input: { [bad]: bad } })]],
      [stranger, [started]],
    ]);

    expect(outcomes).toEqual(['fulfilled', 'fulfilled']);
    expect(await readSeqs(hostile)).toEqual([1, 2, 3, 4]);
    expect(await readSeqs(stranger)).toEqual([1, 2, 3]);
    await fixture.store.handOver(hostile);
    expect(JSON.stringify(await fixture.claim(hostile.runId))).toContain(JSON.stringify(bad));
  });

  it('100,000 nested arrays in the settings of a run that begins in the same moment as other accounts’ runs', async () => {
    const hostile = { ...settings, limits: { ...settings.limits, deep: nested(100_000) } };

    const outcomes = await Promise.allSettled([
      fixture.create({ input: textInput('one') }),
      fixture.create({ settings: hostile }),
      fixture.create({ input: textInput('two') }),
    ]);

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

describe('a group of appends', () => {
  it('is written one by one when its statement took too long because of one run', async () => {
    const [busy, locked, stranger] = await claimMany(3);
    if (!busy || !locked || !stranger) throw new Error('three runs were claimed');
    const { sql } = fixture.database;

    const outcomes = await fixture.database.transaction(async (holder) => {
      await holder.query('select 1 from runs where id = $1 for update', [locked.runId]);
      const appends = appendTogether(busy, [
        [locked, [started]],
        [stranger, [started]],
      ]);
      const cutting = setInterval(() => void sql.query(cutShort), 20);
      return appends.finally(() => clearInterval(cutting));
    });

    expect(outcomes).toEqual(['rejected', 'fulfilled']);
    expect(await readSeqs(stranger)).toEqual([1, 2, 3]);
  });
});
