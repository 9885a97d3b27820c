import type { AccountId } from '@rondo/contract';
import type { Caller } from '@rondo/persistence';
import { toClientName } from './client-access';
import { RateLimiter, tooManyRequests } from './rate-limiter';

/** The count that all gateways share. */
export interface SharedCount {
  /** Returns for how many milliseconds the quota is used up; 0 while it is not. */
  spend(holder: string, amount: number): Promise<number>;
}

interface Usage {
  unreported: number;
  report: { readonly timer: NodeJS.Timeout; readonly isSoon: boolean } | undefined;
  isReporting: boolean;
  refusedUntil: number;
}

interface QuotaSettings {
  readonly perSecond: number;
  readonly onError: (error: unknown) => void;
}

const createUsage = (): Usage => ({ unreported: 0, report: undefined, isReporting: false, refusedUntil: 0 });

const policy = 'account';

const soonMs = 20;
/** For so long requests are collected that are less than this share of what an account may send in a second. */
const usualMs = 200;
const share = 1 / 20;

/**
 * Requests of an account, over all its keys and all gateways. No request waits for the shared count: each gateway reports
 * accepted requests a little later, many at once, and refuses further ones once the count is used up. So an account can exceed
 * it by what arrives within those milliseconds or by that share, and by no more than each gateway's own bucket.
 */
export class AccountQuota {
  private readonly usages = new Map<AccountId, Usage>();
  private readonly own: RateLimiter;

  constructor(
    private readonly shared: SharedCount,
    private readonly settings: QuotaSettings,
  ) {
    this.own = new RateLimiter(settings.perSecond, { policy });
  }

  /** Throws `rate_limited`. */
  consume(account: AccountId): void {
    const usage: Usage = this.usages.get(account) ?? createUsage();
    const waitMs = usage.refusedUntil - performance.now();
    const { perSecond } = this.settings;
    if (waitMs > 0) throw tooManyRequests({ policy, quota: perSecond, windowS: 1, waitS: waitMs / 1000 });
    this.own.consume(account);
    this.usages.set(account, usage);
    usage.unreported += 1;
    if (!usage.isReporting) this.planReport(account, usage);
  }

  private planReport(account: AccountId, usage: Usage): void {
    const isSoon = usage.unreported >= this.settings.perSecond * share;
    if (usage.report && usage.report.isSoon >= isSoon) return;
    clearTimeout(usage.report?.timer);
    const timer = setTimeout(() => void this.report(account, usage), isSoon ? soonMs : usualMs).unref();
    usage.report = { timer, isSoon };
  }

  /** Once everything is reported, the entry is kept only while it refuses. */
  private async report(account: AccountId, usage: Usage): Promise<void> {
    const amount = usage.unreported;
    Object.assign(usage, { unreported: 0, report: undefined, isReporting: true });
    const waitMs = await this.shared.spend(account, amount).catch(this.settings.onError);
    usage.refusedUntil = performance.now() + (waitMs ?? 0);
    usage.isReporting = false;
    if (usage.unreported > 0) this.planReport(account, usage);
    else if (usage.refusedUntil <= performance.now()) this.usages.delete(account);
  }
}

/** The request rate of each key and of each client on each gateway, and of each account over all gateways. */
export class RequestRate {
  constructor(
    private readonly limits: {
      readonly perKey: RateLimiter;
      /** Of one person, or one thread, however many client tokens they have. */
      readonly perClient: RateLimiter;
      readonly perAccount: AccountQuota;
    },
  ) {}

  /** Throws `rate_limited`. */
  consume(caller: Caller): void {
    const { perKey, perClient, perAccount } = this.limits;
    if (caller.client) perClient.consume(toClientName(caller));
    else perKey.consume(caller.keyId);
    perAccount.consume(caller.accountId);
  }
}
