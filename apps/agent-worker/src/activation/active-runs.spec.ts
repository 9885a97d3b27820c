import { runId } from '@rondo/contract';
import { ClaimLostError, type ClaimedRun } from '@rondo/domain';
import { ActiveRuns } from './active-runs';

const id = runId.parse('run_1');
const claim = { runId: id, stop: undefined } as ClaimedRun; // all that holding looks at
const stop = { requestedAt: '2026-01-01T00:00:00.000Z', reason: 'enough' };

describe('ActiveRuns', () => {
  it('stops a run whose stop came while it was being claimed (I7, R27)', () => {
    const held = new ActiveRuns();
    held.stop(id, stop);

    expect(held.hold(claim).signals.stop.reason).toEqual(stop);
  });

  it('forgets the oldest of very many stops that were for others', () => {
    const held = new ActiveRuns();
    held.stop(id, stop);
    for (let others = 0; others < 1_000; others += 1) held.stop(runId.parse(`run_other${others}`), stop);

    expect(held.hold(claim).signals.stop.aborted).toBe(false);
  });

  it('makes who holds a run leave when it is claimed here once more (I3)', () => {
    const held = new ActiveRuns();
    const first = held.hold(claim);

    const second = held.hold(claim);
    held.release(first);

    expect(first.signals.abandon.reason).toBeInstanceOf(ClaimLostError);
    expect(second.signals.abandon.aborted).toBe(false);
    expect(held.find(id)).toBe(second);
  });
});
