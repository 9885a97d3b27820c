import { runId } from '@rondo/contract';
import { ClaimLostError, type ClaimedRun } from '@rondo/domain';
import { ActiveRuns } from './active-runs';

const id = runId.parse('run_1');
const claim = { runId: id, stop: undefined } as ClaimedRun; // ActiveRuns reads nothing else
const stop = { requestedAt: '2026-01-01T00:00:00.000Z', reason: 'enough' };

describe('ActiveRuns', () => {
  it('stops a run whose stop signal arrived before its claim (I7)', () => {
    const active = new ActiveRuns();
    active.stop(id, stop);

    expect(active.add(claim).signals.stop.reason).toEqual(stop);
  });

  it('forgets the oldest of more than 1,000 stops for runs that are not active here', () => {
    const active = new ActiveRuns();
    active.stop(id, stop);
    for (let others = 0; others < 1_000; others += 1) active.stop(runId.parse(`run_other${others}`), stop);

    expect(active.add(claim).signals.stop.aborted).toBe(false);
  });

  it('abandons an older activation when the run is claimed again in this process (I3)', () => {
    const active = new ActiveRuns();
    const first = active.add(claim);

    const second = active.add(claim);
    active.remove(first);

    expect(first.signals.abandon.reason).toBeInstanceOf(ClaimLostError);
    expect(second.signals.abandon.aborted).toBe(false);
    expect(active.find(id)).toBe(second);
  });

  it('abandons a run at once that is added while the process shuts down', () => {
    const active = new ActiveRuns();
    active.drain();

    expect(active.add(claim).signals.abandon.aborted).toBe(true);
  });
});
