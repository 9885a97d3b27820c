const mebibyte = 1024 * 1024;

const usualBounds = {
  account: { calls: 2_000, bytes: 16 * mebibyte },
  all: { calls: 10_000, bytes: 64 * mebibyte },
};
type Bounds = typeof usualBounds;

interface Held {
  calls: number;
  bytes: number;
}

/**
 * How many calls that wait for a slot an executor keeps in memory. One call of each account is always kept, so that no
 * account fills it for the others.
 */
export class CallBacklog {
  private readonly accounts = new Map<string, Held>();
  private readonly all: Held = { calls: 0, bytes: 0 };

  constructor(private readonly bounds: Bounds = usualBounds) {}

  /** Returns what lets go of the call, and may be called again; undefined where there is no room for it. */
  hold(account: string, bytes: number): (() => void) | undefined {
    const held = this.accounts.get(account) ?? { calls: 0, bytes: 0 };
    const { bounds } = this;
    const fits = hasRoom(held, bytes, bounds.account) && hasRoom(this.all, bytes, bounds.all);
    if (held.calls > 0 && !fits) return undefined;

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

const hasRoom = (held: Held, bytes: number, bound: Held): boolean =>
  held.calls < bound.calls && held.bytes + bytes <= bound.bytes;

function change(held: readonly Held[], by: Held): void {
  for (const one of held) {
    one.calls += by.calls;
    one.bytes += by.bytes;
  }
}
