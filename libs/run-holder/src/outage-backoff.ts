import { setTimeout as sleep } from 'node:timers/promises';
import type { ActiveRun } from './active-run';

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

  /** Before the next attempt at a run. Resolves early when the run is stopped or the process shuts down. */
  async pause({ signals: { stop, drain } }: Pick<ActiveRun, 'signals'>): Promise<void> {
    const signal = AbortSignal.any([stop, drain]);
    await sleep(this.nextDelayMs(), undefined, { signal }).catch(() => undefined);
  }

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
