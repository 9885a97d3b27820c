import { modelCallId, noUsage } from '@rondo/contract';
import { type Claim, ClaimLostError, StopPendingError } from '@rondo/domain';
import type { Sql } from '../database/sql';
import { StoreFixture, completed, iterationStarted, nextId, reply, started, usage } from '../testing/store-fixture';
import { appendStatement } from './append-statement';
import { PostgresRunStore } from '../run-store/postgres-run-store';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

/** A store whose append statements are counted. */
function countedStore(): { store: PostgresRunStore; count: () => number } {
  let appends = 0;
  const writer: Sql = {
    query: (text, values) => {
      if (text === appendStatement) appends += 1;
      return fixture.database.writer.query(text, values);
    },
  };
  return {
    store: new PostgresRunStore({ database: { ...fixture.database, writer }, newId: nextId }),
    count: () => appends,
  };
}

const claimMany = (count: number) => Promise.all(Array.from({ length: count }, () => fixture.claimed()));

const readSeqs = async ({ runId }: Claim): Promise<number[]> => {
  const { accountId } = fixture;
  const { data } = await fixture.runs.events({ accountId, runId }, { after: 0, limit: 1000 });
  return data.map(({ seq }) => seq);
};

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

describe('GroupCommit', () => {
  it('writes what waits for a statement under way with one statement', async () => {
    const claims = await claimMany(32);
    const { store, count } = countedStore();

    const recorded = await Promise.all(claims.map((claim) => store.append(claim, [started, iterationStarted(1)])));

    expect(count()).toBe(2);
    expect(recorded.map((facts) => facts.map(({ seq }) => seq))).toEqual(claims.map(() => [3, 4]));
  });

  it('keeps the batches of one run in the order in which they came', async () => {
    const claim = await fixture.claimed();

    const recorded = await Promise.all([
      fixture.store.append(claim, [started]),
      fixture.store.append(claim, [iterationStarted(1), reply(claim, 'one')]),
      fixture.store.append(claim, [reply(claim, 'two')]),
    ]);

    expect(recorded.flat().map(({ seq }) => seq)).toEqual([3, 4, 5, 6]);
  });

  it('numbers 20 runs without a gap while the gateway writes stop facts between (I2)', async () => {
    const claims = await claimMany(20);
    const { accountId } = fixture;

    await Promise.all(
      claims.map(async (claim, index) => {
        for (let iteration = 1; iteration <= 10; iteration += 1) {
          const written = fixture.store.append(claim, [
            iterationStarted(iteration),
            reply(claim, `reply ${iteration}`),
          ]);
          const told =
            iteration === 5 && fixture.runs.requestStop({ accountId, runId: claim.runId, reason: `${index}` });
          await Promise.all([written, told]);
        }
      }),
    );

    for (const claim of claims) expect(await readSeqs(claim)).toEqual(upTo(2 + 20 + 1));
  });

  it('dates no fact before one that another process has written since the claim, by a clock that is ahead', async () => {
    const claim = await fixture.claimed();
    const { accountId } = fixture;
    await fixture.store.append(claim, [started]);
    await fixture.runs.requestStop({ accountId, runId: claim.runId, reason: null });
    const at = new Date(Date.now() + 120_000);
    await fixture.database.sql.query('update run_events set at = $2 where run_id = $1 and seq = 4', [claim.runId, at]);

    const written = [
      ...(await fixture.store.append(claim, [iterationStarted(1), reply(claim, 'one')])),
      ...(await fixture.store.append(claim, [reply(claim, 'two')])),
    ];

    expect(written.map((fact) => [fact.seq, fact.at])).toEqual([5, 6, 7].map((seq) => [seq, at.toISOString()]));
    expect(written[1]).toMatchObject({ data: { message: { created_at: at.toISOString() } } });
  });

  it('lets a message of the gateway and those of a run take turns in the thread', async () => {
    const claim = await fixture.claimed();
    const { accountId, messages } = fixture;
    const said = (text: string) =>
      messages.add({ accountId, threadId: claim.threadId, content: [{ type: 'text', text }] });

    await Promise.all(
      upTo(10).flatMap((n) => [fixture.store.append(claim, [reply(claim, `reply ${n}`)]), said(`question ${n}`)]),
    );

    const { data } = await messages.list({ accountId, threadId: claim.threadId, limit: 100 });
    expect(data.map(({ seq }) => seq)).toEqual(upTo(21));
  });

  it('refuses an older epoch and a stopped ending without harm to the batches beside them (I3, I7)', async () => {
    const [zombie, told, healthy, busy] = await claimMany(4);
    if (!zombie || !told || !healthy || !busy) throw new Error('four runs were claimed');
    await fixture.expireLease(zombie.runId);
    await fixture.claim(zombie.runId, 'worker-2');
    await fixture.runs.requestStop({ accountId: fixture.accountId, runId: told.runId, reason: 'enough' });

    const first = fixture.store.append(busy, [started]);
    const outcomes = await Promise.allSettled([
      fixture.store.append(zombie, [started]),
      fixture.store.append(told, [completed]),
      fixture.store.append(healthy, [started, completed]),
    ]);
    await first;

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect(createReason(outcomes[0])).toBeInstanceOf(ClaimLostError);
    expect(createReason(outcomes[1])).toMatchObject({ stop: { reason: 'enough' } });
    expect(createReason(outcomes[1])).toBeInstanceOf(StopPendingError);
    expect(await readSeqs(healthy)).toEqual([1, 2, 3, 4]);
    expect(await readSeqs(zombie)).toEqual([1, 2]);
  });

  it('does not let data that Postgres refuses take its neighbours along', async () => {
    const [broken, healthy, busy] = await claimMany(3);
    if (!broken || !healthy || !busy) throw new Error('three runs were claimed');

    const first = fixture.store.append(busy, [sameUsage]);
    const outcomes = await Promise.allSettled([
      fixture.store.append(broken, [sameUsage]),
      fixture.store.append(healthy, [started]),
    ]);
    await first;

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await readSeqs(broken)).toEqual([1, 2]);
    expect(await readSeqs(healthy)).toEqual([1, 2, 3]);
  });

  it('writes nothing twice when the connection breaks before the outcome is known', async () => {
    const claims = await claimMany(3);
    const writer: Sql = {
      query: async (text, values) => {
        await fixture.database.writer.query(text, values);
        throw new Error('Connection terminated unexpectedly');
      },
    };
    const store = new PostgresRunStore({ database: { ...fixture.database, writer }, newId: nextId });

    const outcomes = await Promise.allSettled(claims.map((claim) => store.append(claim, [started])));

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    for (const claim of claims) expect(await readSeqs(claim)).toEqual([1, 2, 3]);
  });

  it('lets exactly one of many endings win (I3)', async () => {
    const claim = await fixture.claimed();
    const stores = upTo(8).map(() => new PostgresRunStore({ database: fixture.database, newId: nextId }));

    const outcomes = await Promise.allSettled(stores.map((store) => store.append(claim, [completed])));

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await readSeqs(claim)).toEqual([1, 2, 3]);
  });
});

const createReason = (outcome: PromiseSettledResult<unknown> | undefined): unknown =>
  outcome?.status === 'rejected' ? outcome.reason : undefined;

const sameUsage = usage({ ...noUsage, model_call_id: modelCallId.parse('mdl_same') });
