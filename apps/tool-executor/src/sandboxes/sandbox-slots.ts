import { type AwakeSandbox, SandboxError, type SandboxLog, type SandboxProvider } from '.';

/** Who wants a sandbox awake. */
export interface SlotUser {
  readonly account: string;
  readonly thread: string;
}

export interface SlotWait {
  /** Ends the wait; `hold` then rejects with its reason. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

interface Waiter {
  readonly user: SlotUser;
  readonly begin: () => void;
}

/** A sandbox ends, or a process in it, without a word to us. */
const lookAgainMs = 250;
/** A sandbox that only works in the background and was unused for so long may be put to sleep for another one. */
const backgroundUnusedMs = 60_000;

/**
 * At most so many sandboxes are awake at a time. A thread holds its place while a call of it runs, and as long as its
 * sandbox is awake. Where there is none free, the sandbox that was unused longest is put to sleep; its files stay. One with
 * a job in the background goes only after a while, or when its account has more than half of the places. Where none can
 * go, calls wait, and the next place goes to the account that holds the fewest.
 */
export class SandboxSlots {
  private readonly holds = new Map<string, number>();
  private readonly owners = new Map<string, string>();
  private readonly waiters = new Set<Waiter>();
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

  /** A new thread would have to wait. */
  get isFull(): boolean {
    const awake = this.sandboxes.awake();
    return this.waiters.size > 0 || (this.taken(awake).size >= this.max && this.victim(awake) === undefined);
  }

  /** Returns what lets go. Rejects with `unavailable` after the time, and nothing was executed. */
  async hold(user: SlotUser, wait: SlotWait): Promise<() => void> {
    if (this.mayEnter(user)) this.enter(user);
    else await this.turn(user, wait);
    return () => this.leave(user);
  }

  private mayEnter({ thread }: SlotUser): boolean {
    if (this.holds.has(thread) || this.sandboxes.isAwake(thread)) return true;
    const taken = this.taken(this.sandboxes.awake());
    return taken.has(thread) || (this.waiters.size === 0 && taken.size < this.max);
  }

  private enter({ account, thread }: SlotUser): void {
    this.holds.set(thread, (this.holds.get(thread) ?? 0) + 1);
    this.owners.set(thread, account);
  }

  private leave({ thread }: SlotUser): void {
    const left = (this.holds.get(thread) ?? 1) - 1;
    if (left > 0) this.holds.set(thread, left);
    else this.holds.delete(thread);
    if (this.waiters.size > 0) void this.admit();
  }

  private turn(user: SlotUser, { signal, timeoutMs }: SlotWait): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(late);
        signal.removeEventListener('abort', abort);
        this.waiters.delete(waiter);
      };
      const abort = () => {
        done();
        reject(signal.reason);
      };
      const late = setTimeout(() => {
        done();
        reject(new SandboxError('unavailable', 'Not executed: no sandbox was free in time. Try again later.'));
      }, timeoutMs);
      const begin = () => {
        done();
        this.enter(user);
        resolve();
      };
      const waiter: Waiter = { user, begin };
      this.waiters.add(waiter);
      signal.addEventListener('abort', abort, { once: true });
      this.timer ??= setInterval(() => void this.admit(), lookAgainMs).unref();
      void this.admit();
    });
  }

  /** Admits as many waiters as possible, one after the other. */
  private async admit(): Promise<void> {
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
    const taken = this.taken(awake);
    const waiter = this.next(taken);
    if (!waiter) return false;
    if (taken.has(waiter.user.thread) || taken.size < this.max) {
      waiter.begin();
      return true;
    }
    const victim = this.victim(awake);
    if (victim === undefined) return false;
    await this.putToSleep(victim);
    return true;
  }

  private next(taken: ReadonlySet<string>): Waiter | undefined {
    const share = this.shares(taken);
    let best: Waiter | undefined;
    for (const waiter of this.waiters) {
      if (taken.has(waiter.user.thread)) return waiter;
      const fewer = !best || (share.get(waiter.user.account) ?? 0) < (share.get(best.user.account) ?? 0);
      if (fewer) best = waiter;
    }
    return best;
  }

  private victim(awake: readonly AwakeSandbox[]): string | undefined {
    const share = this.shares(this.taken(awake));
    const now = Date.now();
    const hasTooMany = (thread: string) => (share.get(this.owners.get(thread) ?? '') ?? 0) > this.max / 2;
    const mayGo = ({ threadId, lastUsedAt }: AwakeSandbox) =>
      now - lastUsedAt >= backgroundUnusedMs || hasTooMany(threadId);
    const unheld = awake
      .filter(({ threadId, isBusy }) => !isBusy && !this.holds.has(threadId) && !this.stuck.has(threadId))
      .sort((one, other) => one.lastUsedAt - other.lastUsedAt);
    return (unheld.find(({ hasBackground }) => !hasBackground) ?? unheld.find(mayGo))?.threadId;
  }

  /** One that cannot be put to sleep keeps its place. */
  private async putToSleep(thread: string): Promise<void> {
    try {
      await this.sandboxes.putToSleep(thread);
    } catch (error) {
      this.stuck.add(thread);
      this.log.warn({ threadId: thread, err: error }, 'sandbox could not be put to sleep for another one');
    }
  }

  private taken(awake: readonly AwakeSandbox[]): Set<string> {
    const taken = new Set([...this.holds.keys(), ...awake.map(({ threadId }) => threadId)]);
    for (const thread of this.owners.keys()) if (!taken.has(thread)) this.owners.delete(thread);
    for (const thread of this.stuck) if (!taken.has(thread)) this.stuck.delete(thread);
    return taken;
  }

  /** How many places each account has. */
  private shares(taken: ReadonlySet<string>): Map<string, number> {
    const shares = new Map<string, number>();
    for (const thread of taken) {
      const account = this.owners.get(thread) ?? '';
      shares.set(account, (shares.get(account) ?? 0) + 1);
    }
    return shares;
  }
}
