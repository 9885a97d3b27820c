import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { openRedis } from './redis-connections';

/** Short, so that the limiter falls back to this process soon when Redis does not answer. */
const commandTimeoutMs = 500;

interface QuotaSettings {
  readonly url: string;
  readonly perSecond: number;
  readonly prefix?: string;
}

/** An amount per second for each holder, over all processes that share a Redis. While it is away each process counts alone (I1). */
export class SharedQuota {
  private readonly redis: Redis;
  private readonly limiter: RateLimiterRedis;

  constructor({ url, perSecond, prefix = 'rondo:quota' }: QuotaSettings) {
    this.redis = openRedis(url, commandTimeoutMs);
    this.redis.on('error', () => undefined); // the queues' connection to the same server logs it
    const window = { keyPrefix: prefix, points: perSecond, duration: 1 };
    this.limiter = new RateLimiterRedis({
      ...window,
      storeClient: this.redis,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory(window),
    });
  }

  /** Resolves when Redis answers. */
  async ping(): Promise<void> {
    if (this.redis.status !== 'ready') await new Promise((resolve) => this.redis.once('ready', resolve));
    await this.redis.ping();
  }

  /** Resolves to 0, or to the milliseconds until the quota is restored when it is used up. */
  async spend(holder: string, amount: number): Promise<number> {
    try {
      await this.limiter.consume(holder, amount);
      return 0;
    } catch (refused) {
      if (refused instanceof RateLimiterRes) return Math.max(1, refused.msBeforeNext);
      throw refused;
    }
  }

  close(): void {
    this.redis.disconnect();
  }
}
