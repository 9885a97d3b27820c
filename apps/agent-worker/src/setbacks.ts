import type { ClaimedRun, RunId } from '@rondo/domain';

/**
 * Counts activations of a run that broke for a reason nobody foresaw. Recovery is bounded by progress: as long as the
 * run's log grows in between, it may go on; the same place three times is hopeless.
 */
export class Setbacks {
  private readonly seen = new Map<RunId, { lastSeq: number; times: number }>();

  constructor(private readonly report: (about: { runId: RunId; times: number; error: unknown }) => void) {}

  count({ runId, run }: ClaimedRun, error: unknown): 'try again' | 'hopeless' {
    const before = this.seen.get(runId);
    const times = before?.lastSeq === run.last_seq ? before.times + 1 : 1;
    this.report({ runId, times, error });
    if (times >= hopelessAfter) {
      this.seen.delete(runId);
      return 'hopeless';
    }
    this.remember(runId, { lastSeq: run.last_seq, times });
    return 'try again';
  }

  private remember(runId: RunId, setback: { lastSeq: number; times: number }): void {
    this.seen.delete(runId);
    this.seen.set(runId, setback);
    const oldest = this.seen.keys().next();
    if (this.seen.size > rememberedRuns && !oldest.done) this.seen.delete(oldest.value);
  }
}

const hopelessAfter = 3;
const rememberedRuns = 1_000;
