import { type NewFact, compactionId, messageId } from '@rondo/contract';
import { StoreFixture, nextId, planned, started } from '../testing/store-fixture';
import { PostgresRunStore } from './postgres-run-store';

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.open();
});
afterEach(() => fixture.close());

const compaction_id = compactionId.parse('cmp_1');
const covers = { from_message_id: messageId.parse('msg_1'), to_message_id: messageId.parse('msg_2') };
const compactionStarted: NewFact = {
  type: 'context.compaction_started',
  iteration: 0,
  data: { compaction_id, reason: 'threshold', covers, tokens_before: 9_000 },
};
const compactionFailed: NewFact = {
  type: 'context.compaction_failed',
  iteration: 0,
  data: { compaction_id, error: { code: 'model_overloaded', message: 'Not now.' } },
};

/** A run that waits for a summarizer. */
async function waiting() {
  const claim = await fixture.claimed();
  await fixture.published();
  await fixture.store.append(claim, [started, compactionStarted]);
  return claim;
}

const reaping = (compactionMs: number) =>
  new PostgresRunStore({
    database: fixture.database,
    newId: nextId,
    leaseMs: 1,
    reaper: { compactionMs, missedAfterMs: 1 },
  });
const createRow = (id: string) => fixture.database.prisma.run.findUniqueOrThrow({ where: { id } });
const elapsed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('a run that waits for a summary', () => {
  it('is announced to the summarizers by the transaction that says so, and runs on in the meantime', async () => {
    const { runId, threadId } = await waiting();

    expect(await createRow(runId)).toMatchObject({ status: 'running', queue: 'compactions', leaseOwner: null });
    const payload = { run_id: runId, thread_id: threadId, activation: 2 };
    expect(await fixture.published()).toMatchObject([{ topic: 'compactions', key: `${runId}-2`, payload }]);
  });

  it('is announced to the workers by the transaction that ends it', async () => {
    const { runId } = await waiting();
    const summarizer = await fixture.compactions.claim(runId, 'summarizer');
    if (!summarizer) throw new Error('the run waits for a summarizer');
    await fixture.published();

    await fixture.compactions.append(summarizer, [compactionFailed]);

    expect(await createRow(runId)).toMatchObject({ queue: 'runs', leaseOwner: null, claimsWithoutProgress: 0 });
    expect(await fixture.published()).toMatchObject([{ topic: 'runs', key: `${runId}-3` }]);
  });

  it('stays where it is when its summarizer leaves in order, or dies', async () => {
    const { runId } = await waiting();
    const first = await fixture.compactions.claim(runId, 'summarizer-1');
    if (!first) throw new Error('the run waits for a summarizer');
    await fixture.compactions.handOver(first);
    await fixture.published();
    expect(await fixture.compactions.claim(runId, 'summarizer-2')).toBeDefined();
    await fixture.expireLease(runId);

    await reaping(60_000).reap();

    expect(await fixture.published()).toMatchObject([{ topic: 'compactions', key: `${runId}-4` }]);
  });

  it('is announced again where its job may be missing (I1)', async () => {
    const { runId } = await waiting();
    await fixture.published();
    await elapsed(5);

    await reaping(60_000).reap();

    expect(await fixture.published()).toMatchObject([{ topic: 'compactions', key: `${runId}-2` }]);
  });

  it('goes back to the workers when no summarizer takes it for too long', async () => {
    const { runId } = await waiting();
    await elapsed(5);

    await reaping(1).reap();

    expect(await fixture.published()).toContainEqual(expect.objectContaining({ topic: 'runs', key: `${runId}-3` }));
    expect(await fixture.compactions.claim(runId, 'summarizer')).toBeUndefined();
    expect(await fixture.store.claim(runId, 'worker-2')).toBeDefined();
  });

  it('is left to the summarizer that holds it, however long that takes', async () => {
    const { runId } = await waiting();
    await fixture.compactions.claim(runId, 'summarizer');
    await elapsed(5);

    await reaping(1).reap();

    expect(await createRow(runId)).toMatchObject({ queue: 'compactions', leaseOwner: 'summarizer' });
  });

  it('goes back to the workers when it is told to stop, and the summarizer that held it died (I7)', async () => {
    const { runId } = await waiting();
    await fixture.compactions.claim(runId, 'summarizer');
    const { run } = await fixture.runs.requestStop({ accountId: fixture.accountId, runId, reason: 'enough' });
    expect(run.status).toBe('stopping');
    await reaping(60_000).reap();
    expect(await fixture.store.claim(runId, 'worker-2')).toBeUndefined(); // its holder sees to it, as long as it lives
    await fixture.expireLease(runId);

    const reaper = reaping(60_000);
    await reaper.reap();
    await reaper.reap();

    expect(await fixture.store.claim(runId, 'worker-2')).toMatchObject({ stop: { reason: 'enough' } });
  });

  it('is stopped at once while it is not claimed (I7)', async () => {
    const { runId } = await waiting();

    const { run } = await fixture.runs.requestStop({ accountId: fixture.accountId, runId, reason: 'enough' });

    expect(run.status).toBe('stopped');
    expect(await fixture.compactions.claim(runId, 'summarizer')).toBeUndefined();
  });
});

describe('runs that are due', () => {
  it('are found in Postgres alone, those of one queue, the oldest first', async () => {
    const held = await fixture.claimed();
    await fixture.store.append(held, [started, planned(held, { name: 'execute_command' })]);
    const { runId: compacting } = await waiting();
    const [first, second] = [await fixture.create(), await fixture.create()];
    await elapsed(5);

    const due = (limit: number, sinceMs = 1) => fixture.store.due({ sinceMs, limit });
    expect(await due(10)).toEqual([first.run.id, second.run.id]);
    expect(await due(1)).toEqual([first.run.id]);
    expect(await due(10, 60_000)).toEqual([]);
    expect(await fixture.compactions.due({ sinceMs: 1, limit: 10 })).toEqual([compacting]);
    expect([await fixture.store.countDue(), await fixture.compactions.countDue()]).toEqual([2, 1]);
  });

  it('are none that are claimed, even with an expired lease: after an outage all leases have expired', async () => {
    const held = await fixture.claimed();
    await fixture.database.sql.query(
      `update runs set lease_expires_at = now() - interval '1 s', activated_at = now() - interval '9 s' where id = $1`,
      [held.runId],
    );

    expect(await fixture.store.due({ sinceMs: 1, limit: 1_000 })).not.toContain(held.runId);
    expect(await fixture.store.claim(held.runId, 'who has its job')).toBeDefined();
  });
});
