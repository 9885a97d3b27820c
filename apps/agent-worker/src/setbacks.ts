import type { ClaimedRun, RunId } from '@rondo/domain';

/**
 * Counts activations of a run that broke for a reason nobody foresaw. Recovery is bounded by progress: as long as the
 * run comes to another iteration in between, it may go on; the same one three times is hopeless.
 */
export class Setbacks {
  private readonly seen = new Map<RunId, { iteration: number; times: number }>();

  constructor(private readonly report: (about: { runId: RunId; times: number; error: unknown }) => void) {}

  count({ runId, run }: ClaimedRun, error: unknown): 'try again' | 'hopeless' {
    const before = this.seen.get(runId);
    const times = before?.iteration === run.iteration ? before.times + 1 : 1;
    this.report({ runId, times, error });
    if (times >= hopelessAfter) {
      this.seen.delete(runId);
      return 'hopeless';
    }
    this.remember(runId, { iteration: run.iteration, times });
    return 'try again';
  }

  private remember(runId: RunId, setback: { iteration: number; times: number }): void {
    this.seen.delete(runId);
    this.seen.set(runId, setback);
    const oldest = this.seen.keys().next();
    if (this.seen.size > rememberedRuns && !oldest.done) this.seen.delete(oldest.value);
  }
}

const hopelessAfter = 3;
const rememberedRuns = 1_000;
