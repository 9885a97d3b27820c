import type { AccountId } from '@rondo/contract';
import { Refusal, tryAgainIn } from '../problems/refusals';

/** How long a count is good enough while it is far from the quota. */
const freshMs = 1_000;
const retryAfterS = 5;

interface Known {
  /** As the database had it, and what was made here since. */
  active: number;
  readAt: number;
  /** All that was made here. */
  made: number;
  reading: Promise<void> | undefined;
  /** Let in, and not yet known to be committed. */
  underway: number;
}

/**
 * How many runs of an account may be not over. The database knows; it is asked once a second at most as long as less than
 * half of the quota is used, and for every run beyond that. Gateways do not see what the others are making at the very
 * moment, so that together they can exceed it by a few.
 */
export class ActiveRunQuota {
  private readonly known = new Map<AccountId, Known>();

  constructor(
    private readonly most: number,
    /** Counts up to `atMost`. */
    private readonly countActive: (account: AccountId, atMost: number) => Promise<number>,
  ) {}

  /** Rejects with `too_many_active_runs`. */
  async within<Made>(account: AccountId, make: () => Promise<Made>): Promise<Made> {
    const known = await this.lookAt(account);
    if (known.active + known.underway >= this.most) {
      const detail = `This account has as many runs that are not over as MAX_ACTIVE_RUNS_PER_ACCOUNT allows (${this.most}).`;
      throw new Refusal('too_many_active_runs', detail, tryAgainIn(retryAfterS));
    }
    known.underway += 1;
    try {
      const made = await make();
      known.active += 1;
      known.made += 1;
      return made;
    } finally {
      known.underway -= 1;
    }
  }

  private async lookAt(account: AccountId): Promise<Known> {
    const known = this.known.get(account) ?? { active: 0, readAt: -Infinity, made: 0, reading: undefined, underway: 0 };
    this.known.set(account, known);
    const isFresh = performance.now() - known.readAt < freshMs;
    if (!isFresh || known.active + known.underway >= this.most / 2) await (known.reading ??= this.read(account, known));
    return known;
  }

  /** Runs that are made meanwhile may or may not have been counted: they count twice rather than not at all. */
  private async read(account: AccountId, known: Known): Promise<void> {
    const madeBefore = known.made;
    try {
      const counted = await this.countActive(account, this.most);
      known.active = counted + known.made - madeBefore; // the count may be older than they are
      known.readAt = performance.now();
    } finally {
      known.reading = undefined;
    }
  }
}
