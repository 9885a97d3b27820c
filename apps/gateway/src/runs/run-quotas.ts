import type { AccountId } from '@rondo/contract';
import {
  type CallAnswer,
  type NewRun,
  type QuotaBounds,
  QuotaReached,
  type RunPlace,
  type Sandboxes,
} from '@rondo/persistence';
import type { Admission } from '../billing/account-limits';
import { type AccountQuotas, measureContent } from '../billing/account-quotas';
import { AccountTurns } from '../billing/account-turns';
import { ApiError, retryAfter } from '../problems/api-error';

/** A count this old is still used while less than half of the quota is used. */
const freshMs = 1_000;
const retryAfterS = 5;

/** While an account may have no more than this beside what it has, the transaction that creates a run also counts. */
const countedBelow = 100;

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
 * Limits the active runs of an account. Their number is queried at most once a second while less than half of the quota is used,
 * and for every run beyond that. Once few more may be created, the transaction that creates one counts, by all gateways in turn.
 */
export class ActiveRunQuota {
  private readonly turns = new AccountTurns();
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
    create: (bounds?: QuotaBounds) => Promise<Created>,
    { tier, maxActiveRuns = Infinity, instead }: WithinOptions<Created> = {},
  ): Promise<Created> {
    const limit = Math.min(this.limit ?? Infinity, maxActiveRuns);
    if (limit === Infinity) return create();
    try {
      return await this.count(account, limit, create);
    } catch (error) {
      if (!(error instanceof QuotaReached) || error.quota !== 'active_runs') throw error;
      const done = await instead?.();
      if (done !== undefined) return done;
      const what = limit < (this.limit ?? Infinity) ? `the tier ${tier}` : 'MAX_ACTIVE_RUNS_PER_ACCOUNT';
      const detail = `This account has as many active runs as ${what} allows (${limit}).`;
      throw new ApiError('too_many_active_runs', detail, retryAfter(retryAfterS));
    }
  }

  private async count<Created>(
    account: AccountId,
    limit: number,
    create: (bounds?: QuotaBounds) => Promise<Created>,
  ): Promise<Created> {
    const count = await this.currentCount(account, limit);
    if (count.active >= limit) throw new QuotaReached('active_runs', count.active, limit);
    if (count.active + count.inFlight >= limit - countedBelow)
      return this.turns.run(account, () => create({ active_runs: limit }));
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

interface RunQuotaParts {
  readonly quotas: Pick<AccountQuotas, 'within' | 'isFull'>;
  readonly sandboxes: Pick<Sandboxes, 'hasWorkspace'>;
}

/** Begins a run within what its account may have of what stays. Rejects with QuotaExceeded. */
export async function withinQuotas<Begun>(
  { quotas, sandboxes }: RunQuotaParts,
  { accountId, threadId, projectId, input = [], settings }: RunPlace & Partial<Pick<NewRun, 'input' | 'settings'>>,
  begin: (bounds?: QuotaBounds) => Promise<Begun>,
): Promise<Begun> {
  const place = { accountId, threadId, projectId };
  const usesTools = settings !== undefined && settings.tools.length > 0;
  const mayNeedMore = usesTools && (await quotas.isFull(accountId, 'workspaces'));
  const amounts = {
    ...measureContent(input),
    run_minutes: 0,
    ...(threadId === undefined && { threads: 1 }),
    ...(mayNeedMore && !(await sandboxes.hasWorkspace(place)) && { workspaces: 1 }),
  };
  return quotas.within(accountId, amounts, begin);
}

interface ImageAnswers {
  readonly accountId: AccountId;
  readonly answers: readonly Pick<CallAnswer, 'result'>[];
}

/** The same for the results of calls, of which only images count before they are stored. */
export async function withinImageQuota<Written>(
  quotas: Pick<AccountQuotas, 'within'>,
  { accountId, answers }: ImageAnswers,
  write: (bounds?: QuotaBounds) => Promise<Written>,
): Promise<Written> {
  const images = answers.flatMap(({ result }) => result.image ?? []);
  if (images.length === 0) return write();
  const bytes = images.reduce((sum, { data }) => sum + (data.length * 3) / 4, 0);
  return quotas.within(accountId, { image_bytes: bytes }, write);
}

export const joinBounds = (
  stored: QuotaBounds | undefined,
  active: QuotaBounds | undefined,
): QuotaBounds | undefined => (stored && active ? { ...stored, ...active } : (stored ?? active));
