import type { NatsLink } from '../../connection/nats-link';

/**
 * Whether an executor has been subscribed without a break for longer than a worker repeats a cancellation. Then it has
 * received every cancellation that was sent before a call arrives: messages of a worker arrive in order, unless a
 * connection was lost.
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

  /** A connection that was lost since the last call starts the time again. */
  isUnbroken(): boolean {
    if (this.losses !== this.nats.losses) this.restart();
    return this.nats.connected && performance.now() - this.sinceMs > this.longEnoughMs;
  }

  /** Starts the time again. */
  restart(): void {
    this.losses = this.nats.losses;
    this.sinceMs = performance.now();
  }
}
