import { Refusal, tryAgainIn } from '../problems/refusals';

interface Bucket {
  tokens: number;
  filledAt: number;
}

const maxBuckets = 10_000;

/** A bucket of tokens per key: `perSecond` flow in, twice as many fit. */
export class RateLimiter {
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    private readonly perSecond: number,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Throws `rate_limited`, and says when the next token comes. */
  take(key: string): void {
    const bucket = this.filled(key);
    if (bucket.tokens < 1) {
      throw new Refusal('rate_limited', 'Too many requests.', tryAgainIn((1 - bucket.tokens) / this.perSecond));
    }
    bucket.tokens -= 1;
  }

  private filled(key: string): Bucket {
    const now = this.nowMs();
    const capacity = Math.max(1, 2 * this.perSecond);
    const bucket = this.buckets.get(key) ?? { tokens: capacity, filledAt: now };
    bucket.tokens = Math.min(capacity, bucket.tokens + ((now - bucket.filledAt) / 1000) * this.perSecond);
    bucket.filledAt = now;
    this.buckets.delete(key);
    this.buckets.set(key, bucket);
    if (this.buckets.size > maxBuckets) this.forgetOldest();
    return bucket;
  }

  /** The one that was not used for longest is the likeliest to be full again. */
  private forgetOldest(): void {
    for (const key of this.buckets.keys()) {
      this.buckets.delete(key);
      return;
    }
  }
}
