import type { AccountId } from '@rondo/contract';
import { RateLimiter, tooManyRequests } from './rate-limiter';

/** What all gateways count together. */
export interface SharedCount {
  /** For how many milliseconds there is no more; 0 while there is. */
  spend(holder: string, amount: number): Promise<number>;
}

interface Spending {
  unreported: number;
  isReporting: boolean;
  refusedUntil: number;
}

interface QuotaSettings {
  readonly perSecond: number;
  readonly onTrouble: (error: unknown) => void;
  readonly reportAfterMs?: number;
}

const policy = 'account';

/**
 * Requests of an account, over all its keys and all gateways. No request waits for the count: each gateway reports what it
 * let in a few milliseconds later, many requests at once, and refuses from the moment on that the others have used it up.
 * So an account can exceed it by what arrives within those milliseconds, and by no more than each gateway's own bucket.
 */
export class AccountQuota {
  private readonly spendings = new Map<AccountId, Spending>();
  private readonly own: RateLimiter;

  constructor(
    private readonly shared: SharedCount,
    private readonly settings: QuotaSettings,
  ) {
    this.own = new RateLimiter(settings.perSecond, { policy });
  }

  /** Throws `rate_limited`. */
  take(account: AccountId): void {
    const spending = this.spendings.get(account) ?? { unreported: 0, isReporting: false, refusedUntil: 0 };
    const waitMs = spending.refusedUntil - performance.now();
    const { perSecond } = this.settings;
    if (waitMs > 0) throw tooManyRequests({ policy, quota: perSecond, windowS: 1, waitS: waitMs / 1000 });
    this.own.take(account);
    this.spendings.set(account, spending);
    spending.unreported += 1;
    if (!spending.isReporting) void this.report(account, spending);
  }

  /** Until all is reported; then there is nothing more to remember but a refusal. */
  private async report(account: AccountId, spending: Spending): Promise<void> {
    spending.isReporting = true;
    while (spending.unreported > 0) {
      await new Promise((resolve) => setTimeout(resolve, this.settings.reportAfterMs ?? 20));
      const amount = spending.unreported;
      spending.unreported = 0;
      const waitMs = await this.shared.spend(account, amount).catch(this.settings.onTrouble);
      spending.refusedUntil = performance.now() + (waitMs ?? 0);
    }
    spending.isReporting = false;
    if (spending.refusedUntil <= performance.now()) this.spendings.delete(account);
  }
}
