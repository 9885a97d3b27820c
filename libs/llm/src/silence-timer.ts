export interface Timeouts {
  /** From sending the request to the first byte of the reply. */
  readonly firstByteTimeoutMs: number;
  /** Between two pieces of a reply. */
  readonly idleTimeoutMs: number;
}

export const defaultTimeouts: Timeouts = { firstByteTimeoutMs: 120_000, idleTimeoutMs: 60_000 };

/**
 * Notices a provider that has fallen silent. It counts only while somebody listens: the time in which a reply waits
 * for its own reader is not the provider's. There is one timer, which looks when it fires how long the silence is;
 * a piece of a reply only notes the time.
 */
export class SilenceTimer {
  private timer: NodeJS.Timeout;
  private sinceMs = performance.now();
  private isAwaited = true;
  private heardBefore = false;

  constructor(
    private readonly timeouts: Timeouts,
    private readonly onSilence: () => void,
  ) {
    this.timer = this.lookIn(timeouts.firstByteTimeoutMs);
  }

  listen(): void {
    this.isAwaited = true;
    if (this.heardBefore) this.sinceMs = performance.now();
  }

  /** Whoever listens goes on listening: a piece may say nothing. */
  heard(): void {
    this.heardBefore = true;
    this.sinceMs = performance.now();
  }

  rest(): void {
    this.isAwaited = false;
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private look(): void {
    const { firstByteTimeoutMs, idleTimeoutMs } = this.timeouts;
    const mostMs = this.heardBefore ? idleTimeoutMs : firstByteTimeoutMs;
    const leftMs = this.isAwaited ? this.sinceMs + mostMs - performance.now() : mostMs;
    if (leftMs > 0) this.timer = this.lookIn(leftMs);
    else this.onSilence();
  }

  /** Never later than the shorter of the two may be over, which begins when the first byte comes. */
  private lookIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.look(), Math.min(ms, this.timeouts.idleTimeoutMs));
  }
}
