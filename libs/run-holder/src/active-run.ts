import type { Claim, ClaimedRun, RunStore, StopReason, WaitingMessage } from '@rondo/domain';
import type { RunLive } from '@rondo/messaging';
import { setTimeout as sleep } from 'node:timers/promises';

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

const maxAttempts = 60;
const retryMs = 250;

interface HandOverParts {
  readonly store: Pick<RunStore, 'handOver'>;
  readonly isOutage: (error: unknown) => boolean;
}

/** Retries through an outage as long as a lease, as that of a failover, so that the run need not wait until its lease expires. The epoch makes that safe. */
export async function handOver(
  claim: Claim,
  how: { broke: boolean },
  { store, isOutage }: HandOverParts,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await store.handOver(claim, how);
      return;
    } catch (error) {
      if (attempt === maxAttempts || !isOutage(error)) throw error;
      await sleep(retryMs);
    }
  }
}
