import { runId, threadId } from '@rondo/contract';
import type { Claim, ClaimedRun, Leases } from '@rondo/domain';
import { Heartbeat } from './heartbeat';
import { ActiveRuns } from './active-runs';

const id = runId.parse('run_1');
const claimOf = (epoch: number): ClaimedRun =>
  ({ runId: id, threadId: threadId.parse('thr_1'), epoch, stop: undefined }) as ClaimedRun; // what a heartbeat looks at

const answering = (renew: Leases['renew']): Leases => ({ renew, reap: () => Promise.resolve(0) });

describe('Heartbeat', () => {
  it('leaves what was lost and stops what was told to stop, also when the signal never came (R43)', async () => {
    const held = new ActiveRuns();
    const run = held.hold(claimOf(1));
    const stop = { requestedAt: '2026-01-01T00:00:00.000Z', reason: 'enough' };

    const leases = answering(() => Promise.resolve({ lost: [id], stops: [{ runId: id, stop }] }));
    await new Heartbeat('worker', leases, held).beat();

    expect(run.signals.stop.reason).toEqual(stop);
    expect(run.signals.abandon.aborted).toBe(true);
  });

  it('does not leave a run that was taken anew while it asked about the old claim', async () => {
    const held = new ActiveRuns();
    const old = held.hold(claimOf(1));
    const asked: Claim[] = [];
    const renewed: { run?: ReturnType<ActiveRuns['hold']> } = {};

    const leases = answering((_, claims) => {
      asked.push(...claims);
      held.release(old);
      renewed.run = held.hold(claimOf(2));
      return Promise.resolve({ lost: [id], stops: [] });
    });
    await new Heartbeat('worker', leases, held).beat();

    expect(asked.map(({ epoch }) => epoch)).toEqual([1]);
    expect(renewed.run?.signals.abandon.aborted).toBe(false);
  });

  it('asks nothing when it holds nothing', async () => {
    const leases = answering(() => Promise.reject(new Error('nobody should ask')));

    await expect(new Heartbeat('worker', leases, new ActiveRuns()).beat()).resolves.toBeUndefined();
  });
});
