const shortestMs = 250;
const longestMs = 15_000;

/**
 * A server that all runs need is away or full, and nobody knows for how long. Who tries again has waited a quarter of the
 * time that it has been away: a short outage costs little, and a long one is not met with thousands of attempts.
 */
export class Outage {
  private sinceMs: number | undefined;

  /** How long to wait before the next attempt. */
  pauseMs(nowMs = performance.now()): number {
    this.sinceMs ??= nowMs;
    return Math.min(longestMs, Math.max(shortestMs, (nowMs - this.sinceMs) / 4));
  }

  /** Something has worked. */
  isOver(): void {
    this.sinceMs = undefined;
  }
}
