import { ClaimLostError, type Leases } from '@rondo/domain';
import type { ActiveRuns } from './active-runs';

/**
 * Keeps this process's leases alive with one statement, and hears by the same statement which runs were lost and which
 * were told to stop, so that a stop arrives also when its signal did not (I7, R43).
 */
export class Heartbeat {
  constructor(
    private readonly owner: string,
    private readonly leases: Leases,
    private readonly held: ActiveRuns,
  ) {}

  async beat(): Promise<void> {
    const beating = this.held.all();
    if (beating.length === 0) return;

    const { lost, stops } = await this.leases.renew(
      this.owner,
      beating.map(({ claim }) => claim),
    );
    for (const { runId, stop } of stops) this.held.stop(runId, stop);
    // Those that were held when the beat began: the run may be held anew by now.
    for (const held of beating.filter(({ claim }) => lost.includes(claim.runId))) {
      held.abandon(new ClaimLostError(held.claim.runId));
    }
  }
}
