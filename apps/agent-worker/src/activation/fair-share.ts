import type { ActiveRuns } from '@rondo/run-holder';

interface FairShareParts {
  readonly activeRuns: Pick<ActiveRuns, 'all' | 'size'>;
  readonly queue: { waiting(): Promise<number> };
  readonly concurrency: number;
  readonly minActiveMs: number;
}

/**
 * Keeps long runs from starving others: while jobs wait and this process is at its concurrency, as many runs as there are
 * waiting jobs, the longest active first, are asked to leave at their next boundary. Each time it is others, because one that waits
 * for a tool reaches its boundary late.
 */
export class FairShare {
  constructor(private readonly parts: FairShareParts) {}

  async enforce(): Promise<void> {
    const { activeRuns, queue, concurrency, minActiveMs } = this.parts;
    if (activeRuns.size < concurrency) return;

    const waiting = await queue.waiting();
    const latestStart = performance.now() - minActiveMs;
    activeRuns
      .all()
      .filter(({ activeSince, signals }) => activeSince <= latestStart && !signals.drain.aborted)
      .sort((a, b) => a.activeSince - b.activeSince)
      .slice(0, waiting)
      .forEach((run) => run.drain());
  }
}
