/** Publishes what is due by `nowMs`. */
type Send = (nowMs: number) => void;

interface Departure {
  readonly send: Send;
  readonly notBeforeMs: number;
  readonly byMs: number;
}

/**
 * What this process sends to NATS, gathered: the library makes a write of what is sent in one go, and every write costs
 * both ends a system call and a wake-up, however little it holds. So whatever leaves takes along what may leave.
 *
 * `send` must publish before it returns, and must not throw. Times are of `performance.now`.
 */
export class WriteCoalescer {
  private waiting: Departure[] = [];
  private leaveAtMs = Infinity;
  private timer: NodeJS.Timeout | undefined;

  /** Calls `send` at the end of this turn of the event loop. */
  soon(send: Send): void {
    this.add({ send, notBeforeMs: -Infinity, byMs: 0 });
  }

  /** Calls `send` when something else leaves between these moments, or at the second. */
  between(notBeforeMs: number, byMs: number, send: Send): void {
    this.add({ send, notBeforeMs, byMs });
  }

  /** Calls `send` at that moment and not before: it would wake somebody who is in nobody's way then. */
  at(atMs: number, send: Send): void {
    this.add({ send, notBeforeMs: atMs, byMs: atMs });
  }

  /** Everything leaves that may by then; all of it unless a moment is given. */
  leave(nowMs = Infinity): void {
    const leaving = this.waiting.filter(({ notBeforeMs }) => notBeforeMs <= nowMs);
    this.waiting = this.waiting.filter(({ notBeforeMs }) => notBeforeMs > nowMs);
    this.leaveAtMs = Infinity;
    clearTimeout(this.timer);
    if (this.waiting.length > 0) this.leaveAt(Math.min(...this.waiting.map(({ byMs }) => byMs)));
    for (const { send } of leaving) send(nowMs);
  }

  private add(departure: Departure): void {
    this.waiting.push(departure);
    if (departure.byMs < this.leaveAtMs) this.leaveAt(departure.byMs);
  }

  private leaveAt(atMs: number): void {
    this.leaveAtMs = atMs;
    clearTimeout(this.timer);
    const waitMs = atMs - performance.now();
    if (waitMs > 0) this.timer = setTimeout(() => this.leave(Math.max(atMs, performance.now())), waitMs);
    else setImmediate(() => this.leave(performance.now()));
  }
}
