import type { Caller } from '@rondo/persistence';
import type { AccountQuota } from './account-quota';
import type { RateLimiter } from './rate-limiter';

/** How often who calls may call: each key on each gateway, and each account over all of them. */
export class RequestRate {
  constructor(
    private readonly perKey: RateLimiter,
    private readonly perAccount: AccountQuota,
  ) {}

  /** Throws `rate_limited`. */
  take({ keyId, accountId }: Caller): void {
    this.perKey.take(keyId);
    this.perAccount.take(accountId);
  }
}
