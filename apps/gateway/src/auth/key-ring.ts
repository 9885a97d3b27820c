import { hash } from 'node:crypto';
import type { Caller } from '@rondo/persistence';

interface Known {
  readonly caller: Promise<Caller | undefined>;
  readonly until: number;
}

const maxKnownKeys = 10_000;

/** Who a key speaks for. An answer is believed for ten seconds at most, so a revoked key dies soon everywhere. */
export class KeyRing {
  private readonly known = new Map<string, Known>();

  constructor(
    private readonly verify: (key: string) => Promise<Caller | undefined>,
    private readonly believedMs = 10_000,
  ) {}

  /** `beforeAsking` may refuse to ask, by throwing. */
  callerOf(key: string, beforeAsking: () => void = () => undefined): Promise<Caller | undefined> {
    const digest = hash('sha256', key, 'base64');
    const known = this.known.get(digest);
    if (known && known.until > performance.now()) return known.caller;

    beforeAsking();
    const caller = this.verify(key);
    caller.catch(() => this.known.delete(digest));
    if (this.known.size >= maxKnownKeys) this.known.clear();
    this.known.set(digest, { caller, until: performance.now() + this.believedMs });
    return caller;
  }

  /** A key was revoked through this process: ask again at once. */
  forget(): void {
    this.known.clear();
  }
}
