import type { ClaimedRun, StopReason, WaitingMessage } from '@rondo/domain';
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
  /** By `performance.now()`. */
  readonly activeSince = performance.now();
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

  /** Messages may wait that the run has not read. */
  private mayHaveMessages: boolean;
  private deadline: NodeJS.Timeout | undefined;

  constructor(readonly claim: ClaimedRun) {
    this.mayHaveMessages = claim.mayHaveMessages ?? false;
    if (claim.stop) this.stop(claim.stop);
  }

  stop(reason: StopReason): void {
    this.stopping.abort(reason);
  }

  /** Stops the run after `ms`, whatever it is doing then. */
  stopIn(ms: number, reason: () => StopReason): void {
    this.deadline = setTimeout(() => this.stop(reason()), Math.min(ms, maxTimerMs));
  }

  /** A client has told the run something. */
  tell(): void {
    this.mayHaveMessages = true;
  }

  /** What waits for the run. Calls `read` only if there may be something, and until there is nothing. */
  async unread(read: () => Promise<readonly WaitingMessage[]>): Promise<readonly WaitingMessage[]> {
    if (!this.mayHaveMessages) return [];
    this.mayHaveMessages = false;
    const messages = await read();
    this.mayHaveMessages ||= messages.length > 0;
    return messages;
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
