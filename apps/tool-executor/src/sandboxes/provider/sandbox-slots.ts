import { SandboxError } from './sandbox-error';
import type { AwakeSandbox, SandboxLog, SandboxProvider } from './sandbox-provider';

/** The call's account and thread: a thread has one sandbox, and accounts share the slots. */
export interface SlotUser {
  readonly account: string;
  readonly thread: string;
}

export interface SlotWait {
  /** Ends the wait; `acquire` then rejects with its reason. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

interface Waiter {
  readonly user: SlotUser;
  readonly admit: () => void;
}

/** Slots also become free without a call to `release`: when a sandbox dies or goes idle, or its last process ends. */
const recheckMs = 250;
/** A sandbox that only runs background jobs may be evicted after this long without a call. */
const backgroundUnusedMs = 60_000;

/**
 * Limits how many sandboxes are awake at the same time. A thread occupies a slot while a call of it runs, and as long as its
 * sandbox is awake. When no slot is free, the sandbox unused for longest is put to sleep; its files stay. A sandbox with a
 * background job is evicted only after a while, or when its account has more than half of the slots. When none can be
 * evicted, calls wait, and the next slot goes to the account that has the fewest.
 */
export class SandboxSlots {
  /** Running calls by thread. */
  private readonly acquired = new Map<string, number>();
  /** Accounts by thread. */
  private readonly owners = new Map<string, string>();
  private readonly waiters = new Set<Waiter>();
  /** Threads whose sandbox could not be put to sleep. */
  private readonly stuck = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private admitting = false;

  constructor(
    readonly max: number,
    private readonly sandboxes: Pick<SandboxProvider, 'awake' | 'isAwake' | 'putToSleep'>,
    private readonly log: SandboxLog,
  ) {}

  get awake(): number {
    return this.sandboxes.awake().length;
  }

  get waiting(): number {
    return this.waiters.size;
  }

  /** True when a new thread would have to wait. */
  get isFull(): boolean {
    const awake = this.sandboxes.awake();
    return this.waiters.size > 0 || (this.listOccupied(awake).size >= this.max && this.evictable(awake) === undefined);
  }

  /** Resolves to the function that releases the slot. Rejects with `unavailable` at the timeout. */
  async acquire(user: SlotUser, wait: SlotWait): Promise<() => void> {
    wait.signal.throwIfAborted(); // it tells of no abort that was before
    if (this.hasSlotFor(user)) this.occupy(user);
    else await this.waitForSlot(user, wait);
    return () => this.release(user);
  }

  private hasSlotFor({ thread }: SlotUser): boolean {
    if (this.acquired.has(thread) || this.sandboxes.isAwake(thread)) return true;
    const occupied = this.listOccupied(this.sandboxes.awake());
    return occupied.has(thread) || (this.waiters.size === 0 && occupied.size < this.max);
  }

  private occupy({ account, thread }: SlotUser): void {
    this.acquired.set(thread, (this.acquired.get(thread) ?? 0) + 1);
    this.owners.set(thread, account);
  }

  private release({ thread }: SlotUser): void {
    const remaining = (this.acquired.get(thread) ?? 1) - 1;
    if (remaining > 0) this.acquired.set(thread, remaining);
    else this.acquired.delete(thread);
    if (this.waiters.size > 0) void this.admitWaiters();
  }

  private waitForSlot(user: SlotUser, { signal, timeoutMs }: SlotWait): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', abort);
        this.waiters.delete(waiter);
      };
      const abort = () => {
        done();
        reject(signal.reason);
      };
      const timeout = setTimeout(() => {
        done();
        reject(new SandboxError('unavailable', 'Not executed: no sandbox was free in time. Try again later.'));
      }, timeoutMs);
      const admit = () => {
        done();
        this.occupy(user);
        resolve();
      };
      const waiter: Waiter = { user, admit };
      this.waiters.add(waiter);
      signal.addEventListener('abort', abort, { once: true });
      this.timer ??= setInterval(() => void this.admitWaiters(), recheckMs).unref();
      void this.admitWaiters();
    });
  }

  /** Admits as many waiters as possible, one after the other. */
  private async admitWaiters(): Promise<void> {
    if (this.admitting) return;
    this.admitting = true;
    try {
      while (await this.admitNext());
    } finally {
      this.admitting = false;
      if (this.waiters.size === 0) {
        clearInterval(this.timer);
        this.timer = undefined;
      }
    }
  }

  private async admitNext(): Promise<boolean> {
    const awake = this.sandboxes.awake();
    const occupied = this.listOccupied(awake);
    const waiter = this.nextWaiter(occupied);
    if (!waiter) return false;
    if (occupied.has(waiter.user.thread) || occupied.size < this.max) {
      waiter.admit();
      return true;
    }
    const evicted = this.evictable(awake);
    if (evicted === undefined) return false;
    await this.evict(evicted);
    return true;
  }

  private nextWaiter(occupied: ReadonlySet<string>): Waiter | undefined {
    const slotsByAccount = this.shares(occupied);
    let best: Waiter | undefined;
    for (const waiter of this.waiters) {
      if (occupied.has(waiter.user.thread)) return waiter;
      const fewer =
        !best || (slotsByAccount.get(waiter.user.account) ?? 0) < (slotsByAccount.get(best.user.account) ?? 0);
      if (fewer) best = waiter;
    }
    return best;
  }

  private evictable(awake: readonly AwakeSandbox[]): string | undefined {
    const slotsByAccount = this.shares(this.listOccupied(awake));
    const now = Date.now();
    const hasTooMany = (thread: string) => (slotsByAccount.get(this.owners.get(thread) ?? '') ?? 0) > this.max / 2;
    const mayBeEvicted = ({ threadId, lastUsedAt }: AwakeSandbox) =>
      now - lastUsedAt >= backgroundUnusedMs || hasTooMany(threadId);
    const unused = awake
      .filter(({ threadId, isBusy }) => !isBusy && !this.acquired.has(threadId) && !this.stuck.has(threadId))
      .sort((one, other) => one.lastUsedAt - other.lastUsedAt);
    return (unused.find(({ hasBackground }) => !hasBackground) ?? unused.find(mayBeEvicted))?.threadId;
  }

  /** A sandbox that cannot be put to sleep keeps its slot. */
  private async evict(thread: string): Promise<void> {
    try {
      await this.sandboxes.putToSleep(thread);
    } catch (error) {
      this.stuck.add(thread);
      this.log.warn({ threadId: thread, err: error }, 'sandbox could not be put to sleep for another one');
    }
  }

  private listOccupied(awake: readonly AwakeSandbox[]): Set<string> {
    const occupied = new Set([...this.acquired.keys(), ...awake.map(({ threadId }) => threadId)]);
    for (const thread of this.owners.keys()) if (!occupied.has(thread)) this.owners.delete(thread);
    for (const thread of this.stuck) if (!occupied.has(thread)) this.stuck.delete(thread);
    return occupied;
  }

  /** How many slots each account has. */
  private shares(occupied: ReadonlySet<string>): Map<string, number> {
    const shares = new Map<string, number>();
    for (const thread of occupied) {
      const account = this.owners.get(thread) ?? '';
      shares.set(account, (shares.get(account) ?? 0) + 1);
    }
    return shares;
  }
}
