import type { ActiveRuns } from '@rondo/run-holder';

/**
 * Keeps long runs from starving others: while jobs wait and this process is at its concurrency, as many runs as there are
 * waiting jobs, the longest active first, are asked to leave at their next boundary.
 */
export class FairShare {
  constructor(
    private readonly activeRuns: ActiveRuns,
    private readonly queue: { waiting(): Promise<number> },
    private readonly limits: { concurrency: number; minActiveMs: number },
  ) {}

  async enforce(): Promise<void> {
    if (this.activeRuns.size < this.limits.concurrency) return;

    const waiting = await this.queue.waiting();
    const latestStart = Date.now() - this.limits.minActiveMs;
    this.activeRuns
      .all()
      .filter(({ activeSince, signals }) => activeSince <= latestStart && !signals.drain.aborted)
      .sort((a, b) => a.activeSince - b.activeSince)
      .slice(0, waiting)
      .forEach((run) => run.drain());
  }
}
