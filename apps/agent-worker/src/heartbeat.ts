import { ClaimLostError, type Leases } from '@rondo/domain';
import type { HeldRuns } from './held-runs';

/**
 * Keeps this process's leases alive with one statement, and hears by the same statement which runs were lost and which
 * were told to stop, so that a stop arrives also when its signal did not (I7, R43).
 */
export class Heartbeat {
  constructor(
    private readonly owner: string,
    private readonly leases: Leases,
    private readonly held: HeldRuns,
  ) {}

  async beat(): Promise<void> {
    const claims = this.held.all().map(({ claim }) => claim);
    if (claims.length === 0) return;

    const { lost, stops } = await this.leases.renew(this.owner, claims);
    for (const { runId, stop } of stops) this.held.stop(runId, stop);
    for (const runId of lost) this.held.find(runId)?.abandon(new ClaimLostError(runId));
  }
}
