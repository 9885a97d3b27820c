const mebibyte = 1024 * 1024;

const defaultBounds = {
  account: { calls: 2_000, bytes: 16 * mebibyte },
  all: { calls: 10_000, bytes: 64 * mebibyte },
};
type Bounds = typeof defaultBounds;

interface Held {
  calls: number;
  bytes: number;
}

/**
 * Bounds the calls that wait for a slot in an executor's memory, for each account and for all together. One call of each
 * account is always accepted, so that no account can use up the capacity of the others.
 */
export class CallBacklog {
  private readonly accounts = new Map<string, Held>();
  private readonly all: Held = { calls: 0, bytes: 0 };

  constructor(private readonly bounds: Bounds = defaultBounds) {}

  /** Returns a function that releases the call, at most once; undefined where a bound is reached. */
  hold(account: string, bytes: number): (() => void) | undefined {
    const held = this.accounts.get(account) ?? { calls: 0, bytes: 0 };
    const { bounds } = this;
    const isWithinBounds = fits(held, bytes, bounds.account) && fits(this.all, bytes, bounds.all);
    if (held.calls > 0 && !isWithinBounds) return undefined;

    this.accounts.set(account, held);
    change([held, this.all], { calls: 1, bytes });
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      change([held, this.all], { calls: -1, bytes: -bytes });
      if (held.calls === 0) this.accounts.delete(account);
    };
  }
}

const fits = (held: Held, bytes: number, bound: Held): boolean =>
  held.calls < bound.calls && held.bytes + bytes <= bound.bytes;

function change(counters: readonly Held[], by: Held): void {
  for (const counter of counters) {
    counter.calls += by.calls;
    counter.bytes += by.bytes;
  }
}
