export interface Timeouts {
  /** From sending the request to the first byte of the reply. */
  readonly firstByteTimeoutMs: number;
  /** Between two parts of a reply. */
  readonly idleTimeoutMs: number;
}

export const defaultTimeouts: Timeouts = { firstByteTimeoutMs: 120_000, idleTimeoutMs: 60_000 };

/**
 * Detects a provider that sends nothing. Counts only while the consumer waits for data: the time in which a reply waits
 * for its consumer is not the provider's. One timer checks the elapsed time when it fires, and arriving data only notes
 * the time, because resetting a timer for each packet costs more.
 */
export class SilenceTimer {
  private timer: NodeJS.Timeout;
  private sinceMs = performance.now();
  private isCounting = true;
  private hasData = false;

  constructor(
    private readonly timeouts: Timeouts,
    private readonly onSilence: () => void,
  ) {
    this.timer = this.schedule(timeouts.firstByteTimeoutMs);
  }

  resume(): void {
    this.isCounting = true;
    if (this.hasData) this.sinceMs = performance.now();
  }

  /** Data arrived. The consumer may still wait: the data may hold no chunk. */
  noteActivity(): void {
    this.hasData = true;
    this.sinceMs = performance.now();
  }

  pause(): void {
    this.isCounting = false;
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private check(): void {
    const { firstByteTimeoutMs, idleTimeoutMs } = this.timeouts;
    const limitMs = this.hasData ? idleTimeoutMs : firstByteTimeoutMs;
    const leftMs = this.isCounting ? this.sinceMs + limitMs - performance.now() : limitMs;
    if (leftMs > 0) this.timer = this.schedule(leftMs);
    else this.onSilence();
  }

  /** At most the idle timeout, which starts to count when the first byte arrives. */
  private schedule(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.check(), Math.min(ms, this.timeouts.idleTimeoutMs));
  }
}
