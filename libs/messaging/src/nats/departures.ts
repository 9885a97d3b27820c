/**
 * What this process sends to NATS, gathered: the library makes a write of what is sent in one go, and every write costs
 * both ends a system call and a wake-up, however little it holds. So whatever leaves takes along all that waits.
 */
export class Departures {
  private waiting: (() => void)[] = [];
  private leaveAtMs = Infinity;
  private timer: NodeJS.Timeout | undefined;

  /** Calls `send` at the end of this turn of the event loop. It must publish before it returns, and must not throw. */
  soon(send: () => void): void {
    this.by(0, send);
  }

  /** Calls `send` at that moment (of `performance.now`) or sooner, when something else leaves. */
  by(atMs: number, send: () => void): void {
    this.waiting.push(send);
    if (this.leaveAtMs <= atMs) return;

    this.leaveAtMs = atMs;
    clearTimeout(this.timer);
    const waitMs = atMs - performance.now();
    if (waitMs > 0) this.timer = setTimeout(() => this.leave(), waitMs);
    else setImmediate(() => this.leave());
  }

  /** Everything leaves now. */
  leave(): void {
    clearTimeout(this.timer);
    this.leaveAtMs = Infinity;
    const { waiting } = this;
    this.waiting = [];
    for (const send of waiting) send();
  }
}
