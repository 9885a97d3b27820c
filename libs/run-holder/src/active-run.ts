import type { ClaimedRun, StopReason } from '@rondo/domain';
import type { RunLive } from '@rondo/messaging';

/** This process releases a run although nothing is wrong with it. */
export class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
}

/** The longest delay that setTimeout accepts. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * A run that this process has claimed, with its three signals: `stop` ends it, `drain` asks to release it at the next
 * boundary of an iteration, `abandon` releases it at once (the claim was lost, or the process ends).
 */
export class ActiveRun {
  readonly activeSince = Date.now();
  /** The text so far of the run's open streams. Set by a holder that publishes deltas. */
  openStreams: () => RunLive['streams'] = () => [];
  private readonly stopping = new AbortController();
  private readonly draining = new AbortController();
  private readonly abandoning = new AbortController();
  readonly signals: Readonly<Record<'stop' | 'drain' | 'abandon', AbortSignal>> = {
    stop: this.stopping.signal,
    drain: this.draining.signal,
    abandon: this.abandoning.signal,
  };

  private deadline: NodeJS.Timeout | undefined;

  constructor(readonly claim: ClaimedRun) {
    if (claim.stop) this.stop(claim.stop);
  }

  stop(reason: StopReason): void {
    this.stopping.abort(reason);
  }

  /** Stops the run after `ms`, whatever it is doing then. */
  stopIn(ms: number, reason: () => StopReason): void {
    this.deadline = setTimeout(() => this.stop(reason()), Math.min(ms, maxTimerMs));
  }

  drain(): void {
    this.draining.abort();
  }

  abandon(reason: Error): void {
    this.abandoning.abort(reason);
  }

  /** Clears the deadline: the run is no longer active here. */
  dispose(): void {
    clearTimeout(this.deadline);
  }
}
