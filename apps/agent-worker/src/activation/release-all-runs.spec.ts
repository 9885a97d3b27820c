import { runId } from '@rondo/contract';
import type { ClaimedRun } from '@rondo/domain';
import { ActiveRuns } from '@rondo/run-holder';
import { releaseAllRuns } from './release-all-runs';

const createClaim = (id: string) => ({ runId: runId.parse(id), epoch: 1, stop: undefined }) as ClaimedRun; // ActiveRuns reads nothing else

function worker() {
  const activeRuns = new ActiveRuns();
  const done: string[] = [];
  const processor = { pause: () => void done.push('paused') };
  const tasks = { stop: () => Promise.resolve(void done.push('tasks stopped')) };
  const relay = { publish: () => Promise.resolve(void done.push('jobs published')) };
  return { activeRuns, done, parts: { processor, activeRuns, tasks, relay } };
}

describe('releaseAllRuns', () => {
  it('drains each run, keeps the leases until then, and returns without waiting for the timeout', async () => {
    const { activeRuns, done, parts } = worker();
    const run = activeRuns.add(createClaim('run_1'));
    run.signals.drain.addEventListener('abort', () => setImmediate(() => activeRuns.remove(run)));

    await releaseAllRuns(parts, 10_000);

    expect(run.signals.abandon.aborted).toBe(false);
    expect(done).toEqual(['paused', 'jobs published', 'tasks stopped']);
  });

  it('waits until the jobs of the runs that it has released are published, but not for ever', async () => {
    const { activeRuns, done, parts } = worker();
    const run = activeRuns.add(createClaim('run_1'));
    const relay = { publish: () => (done.push(`${activeRuns.size} active`), new Promise<void>(() => undefined)) };

    const released = releaseAllRuns({ ...parts, relay }, 10_000);
    activeRuns.remove(run);
    await released;

    expect(done).toEqual(['paused', '0 active', 'tasks stopped']);
  });

  it('abandons a run that reaches no boundary in time, and one that arrives afterwards', async () => {
    const { activeRuns, parts } = worker();
    const slow = activeRuns.add(createClaim('run_1'));
    slow.signals.abandon.addEventListener('abort', () => activeRuns.remove(slow));

    await releaseAllRuns(parts, 10);

    expect(slow.signals.abandon.reason).toBeInstanceOf(Error);
    expect(activeRuns.add(createClaim('run_2')).signals.abandon.aborted).toBe(true);
  });
});
