import { TokenBucket } from '@rondo/platform';
import { ApiError, retryAfter } from '../problems/api-error';

const maxBuckets = 10_000;

/** So many seconds fill an empty bucket. */
const windowS = 2;

interface ExhaustedQuota {
  readonly policy: string;
  readonly quota: number;
  readonly windowS: number;
  readonly waitS: number;
}

/** With `RateLimit` and `RateLimit-Policy` as in the IETF's draft. */
export function tooManyRequests({ policy, quota, windowS, waitS }: ExhaustedQuota): ApiError {
  const wait = Math.ceil(waitS);
  return new ApiError('rate_limited', `Too many requests of this ${policy}.`, {
    ...retryAfter(waitS),
    'RateLimit-Policy': `"${policy}";q=${Math.floor(quota)};w=${windowS}`,
    RateLimit: `"${policy}";r=0;t=${wait}`,
  });
}

/** A token bucket per key: `perSecond` flow in, twice as many fit. */
export class RateLimiter {
  private readonly buckets = new Map<string, TokenBucket>();

  constructor(
    private readonly perSecond: number,
    private readonly named: { readonly policy: string },
  ) {}

  /** Throws `rate_limited`, with the time until the next token. */
  consume(key: string): void {
    const bucket = this.toBucket(key);
    if (!bucket.take()) throw tooManyRequests({ ...this.named, quota: this.capacity, windowS, waitS: bucket.waitS });
  }

  /** Takes back a `consume` that is not to count. */
  giveBack(key: string): void {
    this.buckets.get(key)?.giveBack();
  }

  private get capacity(): number {
    return Math.max(1, windowS * this.perSecond);
  }

  private toBucket(key: string): TokenBucket {
    const bucket = this.buckets.get(key) ?? new TokenBucket(this.perSecond, this.capacity);
    this.buckets.delete(key);
    this.buckets.set(key, bucket);
    if (this.buckets.size > maxBuckets) this.evictOldest();
    return bucket;
  }

  /** The least recently used bucket is the likeliest to be full again, which is the state of a new one. */
  private evictOldest(): void {
    for (const key of this.buckets.keys()) {
      this.buckets.delete(key);
      return;
    }
  }
}
