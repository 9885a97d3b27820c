export interface Timeouts {
  /** The most time from sending the request to the first output of the reply. */
  readonly firstOutputTimeoutMs: number;
  /**
   * The same for a reply that takes longer to begin: it is not streamed, or long thoughts are not shown. Also the most time for a
   * part that comes whole, while its server shows that it lives. Default: no longer.
   */
  readonly wholeReplyTimeoutMs?: number;
  /** Between two parts of the output. */
  readonly idleTimeoutMs: number;
}

export const defaultTimeouts: Timeouts = { firstOutputTimeoutMs: 120_000, idleTimeoutMs: 60_000 };

/**
 * Detects a provider that sends no output: what only keeps the connection open does not count, except where the model is at
 * something that comes whole. Counts only while the consumer waits for data: the time in which a reply waits for its consumer is
 * not the provider's. One timer checks the elapsed time when it fires, and arriving data only notes the time, because resetting
 * a timer for each packet costs more.
 */
export class SilenceTimer {
  private timer: NodeJS.Timeout;
  private sinceMs = performance.now();
  /** When the last output arrived. */
  private outputMs = this.sinceMs;
  private isCounting = true;
  private hasOutput = false;
  beginsLate = false;

  constructor(
    private readonly timeouts: Timeouts,
    private readonly onSilence: () => void,
  ) {
    this.timer = this.schedule(timeouts.firstOutputTimeoutMs);
  }

  resume(): void {
    this.isCounting = true;
    if (this.hasOutput) this.startAnew();
  }

  /** Output arrived. */
  noteActivity(): void {
    this.hasOutput = true;
    this.startAnew();
  }

  /** What arrived is no output, but the model is at something that comes whole. */
  noteLife(): void {
    const { firstOutputTimeoutMs, wholeReplyTimeoutMs = firstOutputTimeoutMs } = this.timeouts;
    const nowMs = performance.now();
    if (nowMs < this.outputMs + wholeReplyTimeoutMs) this.sinceMs = nowMs;
  }

  pause(): void {
    this.isCounting = false;
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private startAnew(): void {
    this.sinceMs = performance.now();
    this.outputMs = this.sinceMs;
  }

  private check(): void {
    const { firstOutputTimeoutMs, wholeReplyTimeoutMs = firstOutputTimeoutMs, idleTimeoutMs } = this.timeouts;
    const firstMs = this.beginsLate ? wholeReplyTimeoutMs : firstOutputTimeoutMs;
    const limitMs = this.hasOutput ? idleTimeoutMs : firstMs;
    const leftMs = this.isCounting ? this.sinceMs + limitMs - performance.now() : limitMs;
    if (leftMs > 0) this.timer = this.schedule(leftMs);
    else this.onSilence();
  }

  /** Checks again after `ms`, but at most after the idle timeout, which starts to count when the first output arrives. */
  private schedule(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.check(), Math.min(ms, this.timeouts.idleTimeoutMs));
  }
}
