const minMs = 250;
const maxMs = 15_000;

/**
 * The delay between attempts while a server that all runs need is away or full. Each attempt waits a quarter of the time
 * that the outage has lasted: a short one costs little, and a long one does not cause thousands of attempts.
 */
export class OutageBackoff {
  private sinceMs: number | undefined;

  /** The delay before the next attempt. */
  nextDelayMs(nowMs = performance.now()): number {
    this.sinceMs ??= nowMs;
    return Math.min(maxMs, Math.max(minMs, (nowMs - this.sinceMs) / 4));
  }

  /** Call it after a success. */
  reset(): void {
    this.sinceMs = undefined;
  }
}
