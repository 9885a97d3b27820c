import { Refusal, tryAgainIn } from '../problems/refusals';

interface Bucket {
  tokens: number;
  filledAt: number;
}

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
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    private readonly perSecond: number,
    private readonly named: { readonly policy: string },
  ) {}

  /** Throws `rate_limited`, and says when the next token comes. */
  take(key: string): void {
    const bucket = this.filled(key);
    if (bucket.tokens < 1) {
      const waitS = (1 - bucket.tokens) / this.perSecond;
      throw tooManyRequests({ ...this.named, quota: this.capacity, windowS: windowS, waitS });
    }
    bucket.tokens -= 1;
  }

  private get capacity(): number {
    return Math.max(1, windowS * this.perSecond);
  }

  private filled(key: string): Bucket {
    const now = performance.now();
    const { capacity } = this;
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
