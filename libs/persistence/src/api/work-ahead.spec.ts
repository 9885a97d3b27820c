import { StoreFixture } from '../testing/store-fixture';
import { WorkAhead, type WorkKind } from './work-ahead';

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.open();
});
afterEach(() => fixture.close());

const every: readonly WorkKind[] = [
  ...(['activeRuns', 'jobs', 'strandedRuns', 'expiringWaits'] as const),
  ...(['titles', 'deliveries', 'schedules', 'executions'] as const),
];
const isAhead = (...kinds: readonly WorkKind[]) => new WorkAhead(fixture.database, kinds).within(10_000);
const query = (text: string, values: readonly unknown[] = []) => fixture.database.sql.query(text, values);

describe('WorkAhead', () => {
  it('is none in a deployment without runs', async () => {
    expect(await isAhead(...every)).toBe(false);
  });

  it('is a run until it waits or has ended, and a job until it is published', async () => {
    const { run } = await fixture.create();
    expect(await isAhead('activeRuns')).toBe(true);
    expect(await isAhead('jobs')).toBe(true);

    await fixture.published();
    await query(`update runs set status = 'waiting_input', waiting = '{"reason":"ask"}' where id = $1`, [run.id]);
    expect(await isAhead(...every)).toBe(false);
  });

  it('is a run that was left behind another one that has ended, and none behind one that waits', async () => {
    const { run } = await fixture.create();
    await fixture.create({ threadId: run.thread_id, onActiveRun: 'queue' });
    await query(`update runs set status = 'waiting_input', waiting = '{"reason":"ask"}' where id = $1`, [run.id]);
    expect(await isAhead('activeRuns', 'strandedRuns')).toBe(false);

    await query(
      `update runs set holds_thread = false, waiting = null, finished_at = now(), status = 'completed' where id = $1`,
      [run.id],
    );
    expect(await isAhead('strandedRuns')).toBe(true);
  });

  it('is an approval that expires before the next look', async () => {
    const { run } = await fixture.create();
    const wait = (expiresAt: number) =>
      query(`update runs set status = 'waiting_input', waiting = $2 where id = $1`, [
        run.id,
        JSON.stringify({ reason: 'approval', approvals: [{ expires_at: new Date(expiresAt).toISOString() }] }),
      ]);

    await wait(Date.now() + 60_000);
    expect(await isAhead('expiringWaits')).toBe(false);
    await wait(Date.now() + 5_000);
    expect(await isAhead('expiringWaits')).toBe(true);
  });
});
