import { runId } from '@rondo/contract';
import type { ClaimedRun } from '@rondo/domain';
import { ActiveRuns } from './active-runs';
import { leaveAllRuns } from './leave';

const claimOf = (id: string) => ({ runId: runId.parse(id), epoch: 1, stop: undefined }) as ClaimedRun; // what leaving looks at

function worker() {
  const held = new ActiveRuns();
  const done: string[] = [];
  const processor = { pause: () => void done.push('no more runs') };
  const rounds = { stop: () => Promise.resolve(void done.push('no more rounds')) };
  return { held, done, parts: { processor, held, rounds } };
}

describe('a worker that leaves (R6, R14)', () => {
  it('asks each run to leave at its next boundary, keeps their leases until then, and makes nobody wait longer', async () => {
    const { held, done, parts } = worker();
    const run = held.hold(claimOf('run_1'));
    run.signals.drain.addEventListener('abort', () => setImmediate(() => held.release(run)));

    await leaveAllRuns(parts, 10_000);

    expect(run.signals.abandon.aborted).toBe(false);
    expect(done).toEqual(['no more runs', 'no more rounds']);
  });

  it('makes a run leave that does not come to a boundary, and one that comes too late', async () => {
    const { held, parts } = worker();
    const slow = held.hold(claimOf('run_1'));
    slow.signals.abandon.addEventListener('abort', () => held.release(slow));

    await leaveAllRuns(parts, 10);

    expect(slow.signals.abandon.reason).toBeInstanceOf(Error);
    expect(held.hold(claimOf('run_2')).signals.abandon.aborted).toBe(true);
  });
});
