import { TokenBucket } from '@rondo/platform';
import { Refusal, tryAgainIn } from '../problems/refusals';

const maxBuckets = 10_000;

/** So many seconds fill an empty bucket. */
const windowS = 2;

interface UsedUp {
  readonly policy: string;
  readonly quota: number;
  readonly windowS: number;
  readonly waitS: number;
}

/** `RateLimit` and `RateLimit-Policy` as the IETF's draft has them. */
export function tooManyRequests({ policy, quota, windowS, waitS }: UsedUp): Refusal {
  const wait = Math.ceil(waitS);
  return new Refusal('rate_limited', `Too many requests of this ${policy}.`, {
    ...tryAgainIn(waitS),
    'RateLimit-Policy': `"${policy}";q=${Math.floor(quota)};w=${windowS}`,
    RateLimit: `"${policy}";r=0;t=${wait}`,
  });
}

/** A bucket of tokens per key: `perSecond` flow in, twice as many fit. */
export class RateLimiter {
  private readonly buckets = new Map<string, TokenBucket>();

  constructor(
    private readonly perSecond: number,
    private readonly named: { readonly policy: string },
  ) {}

  /** Throws `rate_limited`, and says when the next token comes. */
  take(key: string): void {
    const bucket = this.bucketOf(key);
    if (!bucket.take()) throw tooManyRequests({ ...this.named, quota: this.capacity, windowS, waitS: bucket.waitS });
  }

  private get capacity(): number {
    return Math.max(1, windowS * this.perSecond);
  }

  private bucketOf(key: string): TokenBucket {
    const bucket = this.buckets.get(key) ?? new TokenBucket(this.perSecond, this.capacity);
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
