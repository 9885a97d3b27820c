/** Publishes what is due at `nowMs`. */
type Send = (nowMs: number) => void;

interface PendingWrite {
  readonly send: Send;
  readonly notBeforeMs: number;
  readonly deadlineMs: number;
}

/**
 * Coalesces messages of this process to NATS: the client library sends what is published in the same turn in one write,
 * and each write costs both ends a system call and a wake-up, however small it is. Every flush therefore also sends the
 * messages whose minimum delay has passed.
 *
 * `send` must publish before it returns, and must not throw. Times are of `performance.now`.
 */
export class WriteCoalescer {
  private pending: PendingWrite[] = [];
  private flushAtMs = Infinity;
  private timer: NodeJS.Timeout | undefined;

  /** Calls `send` at the end of this turn of the event loop. */
  soon(send: Send): void {
    this.add({ send, notBeforeMs: -Infinity, deadlineMs: 0 });
  }

  /** Calls `send` with the first flush after `notBeforeMs`, at `deadlineMs` at the latest. */
  between(notBeforeMs: number, deadlineMs: number, send: Send): void {
    this.add({ send, notBeforeMs, deadlineMs });
  }

  /** Calls `send` at that time and not earlier, so that its receiver does not compete with more urgent work for the CPU. */
  at(atMs: number, send: Send): void {
    this.add({ send, notBeforeMs: atMs, deadlineMs: atMs });
  }

  /** Sends every message whose minimum delay has passed at `nowMs`; all of them by default. */
  flush(nowMs = Infinity): void {
    const due = this.pending.filter(({ notBeforeMs }) => notBeforeMs <= nowMs);
    this.pending = this.pending.filter(({ notBeforeMs }) => notBeforeMs > nowMs);
    this.flushAtMs = Infinity;
    clearTimeout(this.timer);
    if (this.pending.length > 0) this.flushAt(Math.min(...this.pending.map(({ deadlineMs }) => deadlineMs)));
    for (const { send } of due) send(nowMs);
  }

  private add(write: PendingWrite): void {
    this.pending.push(write);
    if (write.deadlineMs < this.flushAtMs) this.flushAt(write.deadlineMs);
  }

  private flushAt(atMs: number): void {
    this.flushAtMs = atMs;
    clearTimeout(this.timer);
    const waitMs = atMs - performance.now();
    if (waitMs > 0) this.timer = setTimeout(() => this.flush(Math.max(atMs, performance.now())), waitMs);
    else setImmediate(() => this.flush(performance.now()));
  }
}
