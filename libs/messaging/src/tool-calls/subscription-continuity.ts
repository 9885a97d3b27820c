import type { NatsLink } from '../connection/nats-link';

/**
 * Whether an executor has listened without a break for longer than anybody goes on calling off a call. Then it has heard of
 * each call that was called off before it came: a worker's words arrive in their order, unless a connection was lost.
 */
export class SubscriptionContinuity {
  private sinceMs = performance.now();
  private losses: number;

  constructor(
    private readonly nats: NatsLink,
    private readonly longEnoughMs: number,
  ) {
    this.losses = nats.losses;
  }

  /** Notes a loss of the connection where there was one. */
  isUnbroken(): boolean {
    if (this.losses !== this.nats.losses) this.lapse();
    return this.nats.connected && performance.now() - this.sinceMs > this.longEnoughMs;
  }

  /** It begins anew. */
  lapse(): void {
    this.losses = this.nats.losses;
    this.sinceMs = performance.now();
  }
}
