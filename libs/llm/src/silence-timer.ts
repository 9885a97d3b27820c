export interface Timeouts {
  /** From sending the request to the first byte of the reply. */
  readonly firstByteTimeoutMs: number;
  /** Between two pieces of a reply. */
  readonly idleTimeoutMs: number;
}

export const defaultTimeouts: Timeouts = { firstByteTimeoutMs: 120_000, idleTimeoutMs: 60_000 };

/**
 * Notices a provider that has fallen silent. It counts only while somebody listens: the time in which a reply waits
 * for its own reader is not the provider's.
 */
export class SilenceTimer {
  private timer: NodeJS.Timeout;
  private waiting = true;
  private heardBefore = false;
  expired = false;

  constructor(
    private readonly timeouts: Timeouts,
    private readonly onSilence: () => void,
  ) {
    this.timer = this.start(timeouts.firstByteTimeoutMs);
  }

  listen(): void {
    this.waiting = true;
    if (this.heardBefore) this.timer.refresh();
  }

  heard(): void {
    this.waiting = false;
    if (this.heardBefore) return;
    this.heardBefore = true;
    this.stop();
    this.timer = this.start(this.timeouts.idleTimeoutMs);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private start(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      if (!this.waiting) return;
      this.expired = true;
      this.onSilence();
    }, ms);
  }
}
