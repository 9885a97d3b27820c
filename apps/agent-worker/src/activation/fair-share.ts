import type { ActiveRuns } from './active-runs';

/**
 * Lets no run starve behind long ones: while others wait and this process is full, the runs that were held longest are
 * asked to leave at their next boundary. With free places, or nobody waiting, runs go on without touching the queue.
 */
export class FairShare {
  constructor(
    private readonly held: ActiveRuns,
    private readonly queue: { waiting(): Promise<number> },
    private readonly limits: { concurrency: number; minimumHoldMs: number },
  ) {}

  async enforce(): Promise<void> {
    if (this.held.size < this.limits.concurrency) return;

    const waiting = await this.queue.waiting();
    const ripe = Date.now() - this.limits.minimumHoldMs;
    this.held
      .all()
      .filter(({ heldSince, signals }) => heldSince <= ripe && !signals.drain.aborted)
      .sort((a, b) => a.heldSince - b.heldSince)
      .slice(0, waiting)
      .forEach((held) => held.drain());
  }
}
