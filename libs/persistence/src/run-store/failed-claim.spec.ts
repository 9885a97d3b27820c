import type { RunId } from '@rondo/contract';
import { type ClaimedRun, NewerRunError, UnreadableRunError, maxFruitlessClaims, openCalls } from '@rondo/domain';
import { DatabaseError } from 'pg';
import type { Sql } from '../database/sql';
import { StoreFixture, iterationStarted, nextId, planned, started } from '../testing/store-fixture';
import { selectForClaim } from './claim-runs';
import { PostgresRunStore } from './postgres-run-store';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const spoil = (id: RunId) =>
  fixture.database.sql.query(`update run_events set at = 'infinity' where run_id = $1 and seq = 2`, [id]);

const created = async (): Promise<RunId> => (await fixture.create()).run.id;

const readFailure = (claim: Promise<unknown>): Promise<unknown> =>
  claim.then(
    () => 'none',
    (error: unknown) => error,
  );

const createRow = (id: RunId) =>
  fixture.database.prisma.run.findUniqueOrThrow({
    where: { id },
    select: { status: true, claimsWithoutProgress: true, leaseOwner: true },
  });

/** A store whose claims of one run Postgres refuses, with everything else as it is. */
function refusing(id: RunId, code: string): PostgresRunStore {
  const sql: Sql = {
    query: (text, values) => {
      if (text === selectForClaim && (values?.[0] as string[]).includes(id))
        return Promise.reject(Object.assign(new DatabaseError('refused', 1, 'error'), { code }));
      return fixture.database.sql.query(text, values);
    },
  };
  return new PostgresRunStore({ database: { ...fixture.database, sql }, newId: nextId });
}

describe('a claim that cannot be read', () => {
  it('counts, and leaves the run to the next claim', async () => {
    const id = await created();
    await spoil(id);

    for (let tries = 1; tries <= maxFruitlessClaims; tries += 1) {
      const error = await readFailure(fixture.store.claim(id, `worker-${tries}`));
      expect(error).toBeInstanceOf(UnreadableRunError);
      expect(error).toMatchObject({ runId: id, fruitlessClaims: tries });
      expect(await createRow(id)).toEqual({ status: 'queued', claimsWithoutProgress: tries, leaseOwner: null });
    }
  });

  it('is found again although no job says that it is due', async () => {
    const id = await created();
    await spoil(id);
    await fixture.published();
    await readFailure(fixture.store.claim(id, 'worker-1'));

    expect(await fixture.published()).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const store = new PostgresRunStore({ database: fixture.database, newId: nextId, reaper: { missedAfterMs: 10 } });
    await store.reap();

    expect((await fixture.published()).map(({ payload }) => payload.run_id)).toContain(id);
  });

  it.each([
    ['is too large for Postgres', '54000'],
    ['is too large for its memory', '53200'],
    ['cannot be allocated', 'XX000'],
  ])('counts outside of the statement that failed, where the run %s', async (_, code) => {
    const id = await created();
    const store = refusing(id, code);

    for (const tries of [1, 2]) {
      expect(await readFailure(store.claim(id, 'worker-1'))).toMatchObject({ fruitlessClaims: tries });
    }
    expect(await fixture.claim(id)).toMatchObject({ fruitlessClaims: 2 });
  });

  it.each([
    ['took too long', '57014'],
    ['met a disk that is full', '53100'],
  ])('does not count where it %s, which says nothing about the run', async (_, code) => {
    const id = await created();

    expect(await readFailure(refusing(id, code).claim(id, 'worker-1'))).toMatchObject({ code });

    expect(await fixture.claim(id)).toMatchObject({ fruitlessClaims: 0 });
  });

  it('is not counted against a run that another worker holds by now', async () => {
    const { runId } = await fixture.claimed('worker-1');

    expect(await readFailure(refusing(runId, '54000').claim(runId, 'worker-2'))).toMatchObject({ code: '54000' });

    expect(await createRow(runId)).toMatchObject({ claimsWithoutProgress: 1, leaseOwner: 'worker-1' });
  });

  it('can be taken to be ended, with its open calls', async () => {
    const claim = await fixture.claimed();
    const open = planned(claim, { name: 'shell', input: { command: 'make' } });
    const { id } = open.data.tool_call;
    await fixture.store.append(claim, [started, iterationStarted(1), open]);
    await fixture.store.handOver(claim);
    await spoil(claim.runId);

    const last = await fixture.store.claimToEnd(claim.runId, 'worker-2');

    expect(last).toMatchObject({ runId: claim.runId, epoch: 2, run: { iteration: 1 }, stop: undefined });
    expect(openCalls({ calls: last?.calls ?? new Map() })).toMatchObject([
      { call: { id, name: 'shell' }, status: 'planned', attempts: 0 },
    ]);
    expect(await fixture.store.claimToEnd(claim.runId, 'worker-3')).toBeUndefined();
  });
});

describe('a run of a newer version', () => {
  it.each([
    ['a fact', `update run_events set type = 'plan.changed' where run_id = $1 and seq = 2`, 'fact plan.changed'],
    [
      'a setting',
      `update runs set settings = (settings::jsonb || '{"quorum": 2}')::json where id = $1`,
      'setting quorum',
    ],
  ])(
    'is left to its workers, as often as this one meets it, because of %s that is not known here',
    async (_, change, unknown) => {
      const id = await created();
      await fixture.database.sql.query(change, [id]);

      for (let tries = 1; tries <= maxFruitlessClaims + 1; tries += 1) {
        const error = await readFailure(fixture.store.claim(id, 'worker-1'));
        expect(error).toBeInstanceOf(NewerRunError);
        expect(error).toMatchObject({ runId: id, unknown: [unknown], isStopping: false });
        expect(await createRow(id)).toEqual({ status: 'queued', claimsWithoutProgress: 0, leaseOwner: null });
      }
    },
  );

  it('is continued by a worker that knows all of it', async () => {
    const id = await created();
    const rename = `update run_events set type = $2 where run_id = $1 and seq = 2`;
    await fixture.database.sql.query(rename, [id, 'plan.changed']);
    await readFailure(fixture.store.claim(id, 'old-worker'));
    await fixture.database.sql.query(rename, [id, 'message.created']);

    expect(await fixture.claim(id, 'new-worker')).toMatchObject({ runId: id, fruitlessClaims: 0 });
  });

  it('does not hold back the other runs of its account', async () => {
    const own = await StoreFixture.open();
    const newer = (await own.create()).run.id;
    await own.database.sql.query(
      `update runs set settings = (settings::jsonb || '{"quorum": 2}')::json where id = $1`,
      [newer],
    );
    const other = (await own.create()).run.id;
    const next = () => own.store.claimNext('worker-1', () => []).catch((error: unknown) => error);

    const claims = [await next(), await next()];

    expect(claims[0]).toBeInstanceOf(NewerRunError);
    expect(claims[1]).toMatchObject({ runId: other });
    await own.close();
  });
});

describe('attack: tenants', () => {
  it('a run that cannot be read, claimed in the same moment as other accounts’ runs', async () => {
    const [before, hostile, after] = [await created(), await created(), await created()];
    await spoil(hostile);

    const outcomes = await Promise.allSettled(
      [before, hostile, after].map((id) => fixture.store.claim(id, 'worker-1')),
    );

    const claims = outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? (outcome.value as ClaimedRun) : 'failed',
    );
    expect(claims).toMatchObject([{ runId: before }, 'failed', { runId: after }]);
  });

  it('a run that is too large to be read, claimed in the same moment as other accounts’ runs', async () => {
    const [before, hostile, after] = [await created(), await created(), await created()];
    const store = refusing(hostile, '54000');

    const outcomes = await Promise.allSettled([before, hostile, after].map((id) => store.claim(id, 'worker-1')));

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});
