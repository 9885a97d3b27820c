import { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { producerConnection } from './redis-connections';

/** No request waits for it, so it may as well find out soon that Redis is silent. */
const commandTimeoutMs = 500;

interface QuotaSettings {
  readonly url: string;
  readonly perSecond: number;
  readonly prefix?: string;
}

/** So much per second for each holder, over all processes that share a Redis. While it is away each process counts alone (I1). */
export class SharedQuota {
  private readonly redis: Redis;
  private readonly limiter: RateLimiterRedis;

  constructor({ url, perSecond, prefix = 'rondo:quota' }: QuotaSettings) {
    const { url: _, ...options } = producerConnection(url);
    this.redis = new Redis(url, { ...options, commandTimeout: commandTimeoutMs, enableOfflineQueue: false });
    this.redis.on('error', () => undefined); // the queues' connection to the same server says so
    const window = { keyPrefix: prefix, points: perSecond, duration: 1 };
    this.limiter = new RateLimiterRedis({
      ...window,
      storeClient: this.redis,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory(window),
    });
  }

  /** Resolves when the connection is there. */
  async ping(): Promise<void> {
    if (this.redis.status !== 'ready') await new Promise((resolve) => this.redis.once('ready', resolve));
    await this.redis.ping();
  }

  /** For how many milliseconds there is no more; 0 while there is. */
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
