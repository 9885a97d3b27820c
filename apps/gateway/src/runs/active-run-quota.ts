import type { AccountId } from '@rondo/contract';
import type { Admission } from '../billing/account-limits';
import { ApiError, retryAfter } from '../problems/api-error';

/** A count this old is still used while less than half of the quota is used. */
const freshMs = 1_000;
const retryAfterS = 5;

interface ActiveCount {
  /** As read from the database, and what was created here since. */
  active: number;
  readAt: number;
  /** Everything that was created here. */
  created: number;
  reading: Promise<void> | undefined;
  /** Accepted, and not yet known to be committed. */
  inFlight: number;
}

interface WithinOptions<Created> extends Omit<Admission, 'settings'> {
  readonly instead?: () => Promise<Created | undefined>;
}

/**
 * Limits the active runs of an account. Their number is queried at most once a second while less than
 * half of the quota is used, and for every run beyond that. Gateways do not see the runs that the others are creating at
 * that moment, so together they can exceed the quota by a few.
 */
export class ActiveRunQuota {
  private readonly counts = new Map<AccountId, ActiveCount>();

  constructor(
    /** Of every account. */
    private readonly limit: number | undefined,
    /** Counts up to `atMost`. */
    private readonly countActive: (account: AccountId, atMost: number) => Promise<number>,
  ) {}

  /** Rejects with `too_many_active_runs`, unless `instead` does without a run. The lower of both limits counts. */
  async within<Created>(
    account: AccountId,
    create: () => Promise<Created>,
    { tier, maxActiveRuns = Infinity, instead }: WithinOptions<Created> = {},
  ): Promise<Created> {
    const limit = Math.min(this.limit ?? Infinity, maxActiveRuns);
    if (limit === Infinity) return create();
    const count = await this.currentCount(account, limit);
    if (count.active + count.inFlight >= limit) {
      const done = await instead?.();
      if (done !== undefined) return done;
      const what = limit < (this.limit ?? Infinity) ? `the tier ${tier}` : 'MAX_ACTIVE_RUNS_PER_ACCOUNT';
      const detail = `This account has as many active runs as ${what} allows (${limit}).`;
      throw new ApiError('too_many_active_runs', detail, retryAfter(retryAfterS));
    }
    count.inFlight += 1;
    try {
      const created = await create();
      count.active += 1;
      count.created += 1;
      return created;
    } finally {
      count.inFlight -= 1;
    }
  }

  private async currentCount(account: AccountId, limit: number): Promise<ActiveCount> {
    const count = this.counts.get(account) ?? newCount();
    this.counts.set(account, count);
    const isFresh = performance.now() - count.readAt < freshMs;
    if (!isFresh || count.active + count.inFlight >= limit / 2)
      await (count.reading ??= this.read(account, count, limit));
    return count;
  }

  /** Runs that are created meanwhile may or may not be included: they count twice rather than not at all. */
  private async read(account: AccountId, count: ActiveCount, limit: number): Promise<void> {
    const createdBefore = count.created;
    try {
      const counted = await this.countActive(account, limit);
      count.active = counted + count.created - createdBefore; // the query may be older than they are
      count.readAt = performance.now();
    } finally {
      count.reading = undefined;
    }
  }
}

const newCount = (): ActiveCount => ({ active: 0, readAt: -Infinity, created: 0, reading: undefined, inFlight: 0 });
