const minMs = 250;
const maxMs = 15_000;
/** An outage makes attempts fail more often than this. */
const quietMs = 2 * maxMs;

/**
 * The delay between attempts while a server that all runs need is away or full. Each attempt waits a quarter of the time
 * that the outage has lasted: a short one costs little, and a long one does not cause thousands of attempts.
 */
export class OutageBackoff {
  private sinceMs: number | undefined;
  private lastMs = 0;

  /** The delay before the next attempt, after one that failed now. */
  nextDelayMs(nowMs = performance.now()): number {
    if (nowMs - this.lastMs > quietMs) this.reset();
    this.lastMs = nowMs;
    this.sinceMs ??= nowMs;
    return Math.min(maxMs, Math.max(minMs, (nowMs - this.sinceMs) / 4));
  }

  /** Call it after a success. A long run has none for a long time, so an outage also ends by itself. */
  reset(): void {
    this.sinceMs = undefined;
  }
}
