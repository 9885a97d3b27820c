import type { ClaimedRun, CutShort } from '@rondo/domain';
import type { RunJournal } from '../delivery/run-journal';

/** This process must let go of a run although nothing is wrong with it. */
export class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
}

/** The longest that a timer can wait. */
const longestMs = 2 ** 31 - 1;

/**
 * A run in this process, and the three ways to speak to it: `stop` ends it, `drain` asks it to leave at the next
 * boundary of an iteration, `abandon` makes it leave now (the claim is lost, or the process must go).
 */
export class ActiveRun {
  readonly heldSince = Date.now();
  journal: RunJournal | undefined;
  private readonly stopping = new AbortController();
  private readonly draining = new AbortController();
  private readonly leaving = new AbortController();
  readonly signals: Readonly<Record<'stop' | 'drain' | 'abandon', AbortSignal>> = {
    stop: this.stopping.signal,
    drain: this.draining.signal,
    abandon: this.leaving.signal,
  };

  private deadline: NodeJS.Timeout | undefined;

  constructor(readonly claim: ClaimedRun) {
    if (claim.stop) this.stop(claim.stop);
  }

  stop(why: CutShort): void {
    this.stopping.abort(why);
  }

  /** Cuts the run short when its time is over, whatever it is doing. */
  endsIn(ms: number, why: () => CutShort): void {
    this.deadline = setTimeout(() => this.stop(why()), Math.min(ms, longestMs));
  }

  /** Nobody holds it any more. */
  released(): void {
    clearTimeout(this.deadline);
  }

  drain(): void {
    this.draining.abort();
  }

  abandon(reason: Error): void {
    this.leaving.abort(reason);
  }
}
