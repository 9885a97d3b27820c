import { runId, threadId } from '@rondo/contract';
import type { Claim, ClaimedRun, Leases } from '@rondo/domain';
import { ActiveRuns, Heartbeat } from './active-runs';

const id = runId.parse('run_1');
const createClaim = (epoch: number): ClaimedRun =>
  ({ runId: id, threadId: threadId.parse('thr_1'), epoch, stop: undefined }) as ClaimedRun; // Heartbeat reads nothing else

const leasesWith = (renew: Leases['renew']): Leases => ({ renew, reap: () => Promise.resolve(0) });

describe('Heartbeat', () => {
  it('abandons lost claims and stops runs whose stop signal never arrived', async () => {
    const active = new ActiveRuns();
    const run = active.add(createClaim(1));
    const stop = { requestedAt: '2026-01-01T00:00:00.000Z', reason: 'enough' };

    const leases = leasesWith(() => Promise.resolve({ lost: [id], stops: [{ runId: id, stop }], told: [] }));
    await new Heartbeat('worker', leases, active).beat();

    expect(run.signals.stop.reason).toEqual(stop);
    expect(run.signals.abandon.aborted).toBe(true);
  });

  it('has a run read what it was told, though no signal of it arrived', async () => {
    const active = new ActiveRuns();
    const run = active.add(createClaim(1));
    const content = [{ type: 'text' as const, text: 'In blue.' }];
    const waiting = () => Promise.resolve([{ queuedRun: runId.parse('run_2'), content }]);
    expect(await run.unread(waiting)).toEqual([]);

    await new Heartbeat(
      'worker',
      leasesWith(() => Promise.resolve({ lost: [], stops: [], told: [id] })),
      active,
    ).beat();

    expect(await run.unread(waiting)).toHaveLength(1);
  });

  it('does not abandon a run that was claimed again while the old claim was being renewed', async () => {
    const active = new ActiveRuns();
    const old = active.add(createClaim(1));
    const renewed: Claim[] = [];
    const next: { run?: ReturnType<ActiveRuns['add']> } = {};

    const leases = leasesWith((_, claims) => {
      renewed.push(...claims);
      active.remove(old);
      next.run = active.add(createClaim(2));
      return Promise.resolve({ lost: [id], stops: [], told: [] });
    });
    await new Heartbeat('worker', leases, active).beat();

    expect(renewed.map(({ epoch }) => epoch)).toEqual([1]);
    expect(next.run?.signals.abandon.aborted).toBe(false);
  });

  it('sends no statement when no run is active', async () => {
    const leases = leasesWith(() => Promise.reject(new Error('unexpected statement')));

    await expect(new Heartbeat('worker', leases, new ActiveRuns()).beat()).resolves.toBeUndefined();
  });
});
