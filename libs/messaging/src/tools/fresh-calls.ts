import type { NatsLink } from '../nats/nats-link';

/**
 * Knows which calls were sent while this executor listened without a break: if one of them was called off, it has heard that,
 * and need not ask before it runs the call. `settleMs` is longer than anybody goes on calling off.
 */
export class FreshCalls {
  /** A place in the queue. */
  private after = Infinity;
  private doubtedAtMs = performance.now();
  private losses = 0;

  constructor(
    private readonly nats: NatsLink,
    private readonly settleMs: number,
  ) {}

  includes(place: number): boolean {
    return place > this.after && this.losses === this.nats.losses;
  }

  /** What is in the queue now, or on its way there, is fresh no more. */
  doubt(): void {
    this.after = Infinity;
    this.doubtedAtMs = performance.now();
  }

  /** Ends a doubt when it has lasted long enough. */
  async settle(): Promise<void> {
    const { nats, doubtedAtMs, settleMs } = this;
    if (this.losses !== nats.losses) {
      this.losses = nats.losses;
      this.doubt();
    } else if (this.after === Infinity && performance.now() - doubtedAtMs > settleMs) {
      const { streams } = await nats.toolStreams.manager;
      const { state } = await streams.info(nats.names.toolCalls.stream);
      if (this.doubtedAtMs === doubtedAtMs) this.after = state.last_seq;
    }
  }
}
