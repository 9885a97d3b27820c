import type { GatewayConfig } from '../config';
import { ApiError, retryAfter } from '../problems/api-error';
import type { ProblemCode } from '../problems/problems';

const retryAfterS = 1;

/** How much of something each holder, for example an API key, may use at a time. */
export class ConcurrencyLimit {
  private readonly used = new Map<string, number>();

  constructor(
    private readonly limit: number,
    private readonly refusal: { readonly code: ProblemCode; readonly detail: string },
  ) {}

  isFull(holder: string): boolean {
    return (this.used.get(holder) ?? 0) >= this.limit;
  }

  /** Returns the function that releases it, which may be called twice. Throws where the limit is reached. */
  acquire(holder: string, amount = 1): () => void {
    const used = this.used.get(holder) ?? 0;
    if (used + amount > this.limit) {
      throw new ApiError(this.refusal.code, this.refusal.detail, retryAfter(retryAfterS));
    }
    this.used.set(holder, used + amount);
    let isAcquired = true;
    return () => {
      if (isAcquired) this.release(holder, amount);
      isAcquired = false;
    };
  }

  private release(holder: string, amount: number): void {
    const left = (this.used.get(holder) ?? 0) - amount;
    if (left > 0) this.used.set(holder, left);
    else this.used.delete(holder);
  }
}

const connections = (limit: number, what: string) =>
  new ConcurrencyLimit(limit, {
    code: 'too_many_connections',
    detail: `An API key can have ${limit} ${what} open at a time on one gateway.`,
  });

/** What one API key, or one address without a key, may use of this process at a time. */
export class ConcurrencyLimits {
  readonly sockets: ConcurrencyLimit;
  readonly streams: ConcurrencyLimit;
  readonly waits: ConcurrencyLimit;
  /** Per address. */
  readonly unauthenticatedSockets: ConcurrencyLimit;
  /** Of requests that are being read or answered. */
  readonly bodyBytes: ConcurrencyLimit;

  constructor(config: GatewayConfig) {
    this.sockets = connections(config.SOCKETS_PER_KEY, 'sockets');
    this.streams = connections(config.STREAMS_PER_KEY, 'event streams');
    this.waits = connections(config.WAITS_PER_KEY, 'waits');
    this.unauthenticatedSockets = new ConcurrencyLimit(Math.ceil(2 * config.HANDSHAKES_PER_SECOND), {
      code: 'too_many_connections',
      detail: 'Too many connections of this address have sent no key yet.',
    });
    this.bodyBytes = new ConcurrencyLimit(Math.max(config.BODY_BYTES_PER_KEY, config.BODY_LIMIT_BYTES), {
      code: 'too_many_bytes_in_flight',
      detail: `The requests of an API key that are under way can have ${config.BODY_BYTES_PER_KEY} bytes together.`,
    });
  }
}
