import { ClaimLostError, type Leases } from '@rondo/domain';
import type { ActiveRuns } from './active-runs';

/**
 * Renews all leases of this process in one statement. The same statement returns lost claims, requested stops, and the runs that
 * were told something, so a run stops (I7), or reads, even if its signal was lost.
 */
export class Heartbeat {
  constructor(
    private readonly owner: string,
    private readonly leases: Leases,
    private readonly active: ActiveRuns,
  ) {}

  async beat(): Promise<void> {
    const renewed = this.active.all();
    if (renewed.length === 0) return;

    const { lost, stops, told } = await this.leases.renew(
      this.owner,
      renewed.map(({ claim }) => claim),
    );
    for (const { runId, stop } of stops) this.active.stop(runId, stop);
    for (const id of told) this.active.find(id)?.tell();
    // Only those whose claims were sent: a run may have been claimed again in the meantime.
    for (const run of renewed.filter(({ claim }) => lost.includes(claim.runId))) {
      run.abandon(new ClaimLostError(run.claim.runId));
    }
  }
}
