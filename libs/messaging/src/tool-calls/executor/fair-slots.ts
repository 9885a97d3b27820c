/** The account and thread for which a slot is requested. */
export interface SlotUser {
  readonly account: string;
  readonly thread: string;
}

export interface SlotLimits {
  readonly total: number;
  readonly perAccount: number;
  readonly perThread: number;
}

/** The executor is closing and starts no more calls. */
export class SlotsClosed extends Error {
  override readonly name = 'SlotsClosed';
}

interface Waiter {
  readonly user: SlotUser;
  readonly begin: () => void;
  readonly refuse: (reason: Error) => void;
}

/**
 * A semaphore that shares its slots fairly. The slots of an account and of a thread are limited. A free slot goes to the
 * account that uses the fewest; if several do, to the one that was served longest ago. Within an account the order is first
 * come, first served, except that a thread at its limit does not block the others.
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

  /** Work that is aborted while it waits runs without a slot, so that it can report the abort. Rejects with SlotsClosed. */
  async run<Result>(user: SlotUser, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const turn = this.turn(user, signal);
    const hasSlot = turn === true || (await turn);
    try {
      return await work();
    } finally {
      if (hasSlot) this.release(user);
    }
  }

  /** Rejects waiting and new requests. Running work goes on. */
  close(): void {
    this.closed = true;
    for (const waiters of this.waiters.values()) {
      for (const { refuse } of waiters) refuse(new SlotsClosed('no more calls are begun'));
    }
  }

  private turn(user: SlotUser, signal: AbortSignal): boolean | Promise<boolean> {
    if (this.closed) throw new SlotsClosed('no more calls are begun');
    if (this.used < this.limits.total && this.isBelowLimits(user)) return this.occupy(user);
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
          resolve(this.occupy(user));
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

  private occupy({ account, thread }: SlotUser): true {
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

  private isBelowLimits({ account, thread }: SlotUser): boolean {
    return this.accounts.of(account) < this.limits.perAccount && this.threads.of(thread) < this.limits.perThread;
  }

  private next(): Waiter | undefined {
    let best: Waiter | undefined;
    for (const [account, waiters] of this.waiters) {
      if (best && this.accounts.of(best.user.account) <= this.accounts.of(account)) continue;
      best = this.findFirst(waiters) ?? best;
    }
    return best;
  }

  private findFirst(waiters: Iterable<Waiter>): Waiter | undefined {
    for (const waiter of waiters) if (this.isBelowLimits(waiter.user)) return waiter;
    return undefined;
  }

  private add(waiter: Waiter): void {
    const { account } = waiter.user;
    const waiters = this.waiters.get(account) ?? new Set();
    this.waiters.set(account, waiters.add(waiter));
    this.waitingUsers += 1;
  }

  /** The account moves behind all others. */
  private remove(waiter: Waiter): void {
    const { account } = waiter.user;
    const waiters = this.waiters.get(account);
    if (!waiters?.delete(waiter)) return;
    this.waitingUsers -= 1;
    this.waiters.delete(account);
    if (waiters.size > 0) this.waiters.set(account, waiters);
  }
}

/** A count for each name; a name whose count is 0 is removed. */
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
