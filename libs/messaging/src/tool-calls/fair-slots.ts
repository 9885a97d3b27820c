/** Who asks for a slot. */
export interface SlotUser {
  readonly account: string;
  readonly thread: string;
}

export interface SlotLimits {
  readonly total: number;
  readonly perAccount: number;
  readonly perThread: number;
}

/** The executor ends, so nothing that waits begins any more. */
export class SlotsClosed extends Error {
  override readonly name = 'SlotsClosed';
}

interface Waiter {
  readonly user: SlotUser;
  readonly begin: () => void;
  readonly refuse: (reason: Error) => void;
}

/**
 * A semaphore whose slots are shared fairly: an account and a thread have so many at most, and a free slot goes to the
 * account that has the fewest, of several to the one that was served longest ago. Within an account it is first come,
 * first served, but a thread that has all it may have holds up no other.
 */
export class FairSlots {
  private readonly waiters = new Map<string, Set<Waiter>>();
  private readonly accounts = new Tally();
  private readonly threads = new Tally();
  private used = 0;
  private waitingUsers = 0;
  private closed = false;

  constructor(readonly limits: SlotLimits) {}

  get inUse(): number {
    return this.used;
  }

  get waiting(): number {
    return this.waitingUsers;
  }

  /** Work that is aborted while it waits goes ahead without a slot, to say so. Rejects with SlotsClosed. */
  async run<Result>(user: SlotUser, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const turn = this.turn(user, signal);
    const hasSlot = turn === true || (await turn);
    try {
      return await work();
    } finally {
      if (hasSlot) this.release(user);
    }
  }

  /** Refuses who waits and who comes. What runs goes on. */
  close(): void {
    this.closed = true;
    for (const waiters of this.waiters.values()) {
      for (const { refuse } of waiters) refuse(new SlotsClosed('no more calls are begun'));
    }
  }

  private turn(user: SlotUser, signal: AbortSignal): boolean | Promise<boolean> {
    if (this.closed) throw new SlotsClosed('no more calls are begun');
    if (this.used < this.limits.total && this.mayHaveOneMore(user)) return this.take(user);
    if (signal.aborted) return false;
    return new Promise((resolve, reject) => {
      const leave = () => {
        signal.removeEventListener('abort', giveUp);
        this.remove(waiter);
      };
      const giveUp = () => {
        leave();
        resolve(false);
      };
      const waiter: Waiter = {
        user,
        begin: () => {
          leave();
          resolve(this.take(user));
        },
        refuse: (reason) => {
          leave();
          reject(reason);
        },
      };
      this.add(waiter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  private take({ account, thread }: SlotUser): true {
    this.used += 1;
    this.accounts.add(account, 1);
    this.threads.add(thread, 1);
    return true;
  }

  private release({ account, thread }: SlotUser): void {
    this.used -= 1;
    this.accounts.add(account, -1);
    this.threads.add(thread, -1);
    this.next()?.begin();
  }

  private mayHaveOneMore({ account, thread }: SlotUser): boolean {
    return this.accounts.of(account) < this.limits.perAccount && this.threads.of(thread) < this.limits.perThread;
  }

  private next(): Waiter | undefined {
    let best: Waiter | undefined;
    for (const [account, waiters] of this.waiters) {
      if (best && this.accounts.of(best.user.account) <= this.accounts.of(account)) continue;
      best = this.firstOf(waiters) ?? best;
    }
    return best;
  }

  private firstOf(waiters: Iterable<Waiter>): Waiter | undefined {
    for (const waiter of waiters) if (this.mayHaveOneMore(waiter.user)) return waiter;
    return undefined;
  }

  private add(waiter: Waiter): void {
    const { account } = waiter.user;
    const waiters = this.waiters.get(account) ?? new Set();
    this.waiters.set(account, waiters.add(waiter));
    this.waitingUsers += 1;
  }

  /** The account goes behind all others. */
  private remove(waiter: Waiter): void {
    const { account } = waiter.user;
    const waiters = this.waiters.get(account);
    if (!waiters?.delete(waiter)) return;
    this.waitingUsers -= 1;
    this.waiters.delete(account);
    if (waiters.size > 0) this.waiters.set(account, waiters);
  }
}

/** How many of each; of what there is none, nothing is kept. */
class Tally {
  private readonly counts = new Map<string, number>();

  of(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  add(name: string, change: number): void {
    const count = this.of(name) + change;
    if (count === 0) this.counts.delete(name);
    else this.counts.set(name, count);
  }
}
