import { createHash } from 'node:crypto';
import type { RunId } from '@rondo/contract';
import type { Claim } from '@rondo/domain';
import { StoreFixture, completed, iterationStarted, reply, started } from '../testing/store-fixture';
import { Retention } from './retention';

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.open();
});
afterEach(() => fixture.close());

const address = (runId: RunId) => ({ accountId: fixture.accountId, runId });
const allOf = (runId: RunId, after = 0) => fixture.runs.events(address(runId), { after, limit: 1_000 });
const toChain = (facts: readonly object[]) =>
  facts.reduce<string>(
    (hash, fact) => createHash('sha256').update(hash).update(JSON.stringify(fact)).digest('hex'),
    '',
  );

/** A run that ended `days` ago. */
async function ended(days: number): Promise<Claim> {
  const claim = await fixture.claimed();
  await fixture.store.append(claim, [started, iterationStarted(1), reply(claim, 'One.'), reply(claim, 'Two.')]);
  await fixture.store.append(claim, [completed]);
  const { sql } = fixture.database;
  await sql.query(`update runs set finished_at = finished_at - $2 * interval '1 day' where id = $1`, [
    claim.runId,
    days,
  ]);
  await sql.query(`update run_events set at = at - $2 * interval '1 day' where run_id = $1`, [claim.runId, days]);
  return claim;
}

describe('retention', () => {
  it('keeps of an old run its end, and the hash chain, which still proves what is left', async () => {
    const { runId } = await ended(31);
    const whole = (await allOf(runId)).data;
    const before = await fixture.runs.verify(address(runId));

    expect(await new Retention(fixture.database, 30).trim()).toBe(1);

    expect((await allOf(runId)).data).toEqual(whole.slice(-1));
    const trimmed = { through: whole.length - 1, hash: toChain(whole.slice(0, -1)) };
    const { hash } = before;
    const last = whole.length;
    const after = await fixture.runs.verify(address(runId));
    expect(after).toEqual({ first: last, last, count: 1, head_seq: last, contiguous: true, hash, trimmed });
    expect(after.hash).toBe(toChain(whole));
  });

  it('tells a reader which facts are missing, and how the run stands instead, never skips them silently', async () => {
    const { runId } = await ended(31);
    await new Retention(fixture.database, 30).trim();

    const page = await allOf(runId, 2);

    expect(page.gap).toEqual({ from: 3, to: 6, reason: 'retention' });
    expect(page.snapshot?.run).toMatchObject({ id: runId, status: 'completed' });
    expect(page.snapshot?.messages.map(({ content }) => content)).toEqual(
      ['Go.', 'One.', 'Two.'].map((text) => [{ type: 'text', text }]),
    );
    expect(Object.keys(await allOf(runId, 6))).toEqual(['data', 'head_seq']);
  });

  it('leaves young runs alone, and those that are not over, and everything where it is off', async () => {
    const young = await ended(29);
    const alive = await fixture.claimed();
    await fixture.store.append(alive, [started]);
    const old = await ended(31);

    expect(await new Retention(fixture.database, undefined).trim()).toBe(0);
    expect(await new Retention(fixture.database, 30).trim()).toBe(1);

    const lengths = [young, alive, old].map(async ({ runId }) => (await allOf(runId)).data.length);
    expect(await Promise.all(lengths)).toEqual([7, 3, 1]);
  });

  it('trims each log once when many workers look', async () => {
    for (let count = 0; count < 6; count += 1) await ended(31);

    const trimmed = await Promise.all([1, 2, 3].map(() => new Retention(fixture.database, 30).trim()));

    expect(trimmed.reduce((sum, count) => sum + count, 0)).toBe(6);
  });

  it('keeps what was said, what tools did and what it cost', async () => {
    const { runId, threadId } = await ended(31);
    const told = async () => [
      await fixture.runs.result(address(runId)),
      await fixture.messages.list({ accountId: fixture.accountId, threadId, limit: 10 }),
    ];
    const before = await told();

    await new Retention(fixture.database, 30).trim();

    expect(await told()).toEqual(before);
  });
});
