import { hash } from 'node:crypto';
import type { Caller } from '@rondo/persistence';
import { type RequestOrigin, clientAddress } from './client-address';
import type { RateLimiter } from './rate-limiter';

interface CachedCaller {
  readonly caller: Promise<Caller | undefined>;
  readonly until: number;
}

const maxCachedKeys = 10_000;

/** The callers of recently used keys. An entry is valid for ten seconds, so that a revoked key soon fails everywhere. */
export class ApiKeyCache {
  private readonly cached = new Map<string, CachedCaller>();

  constructor(
    private readonly verify: (key: string) => Promise<Caller | undefined>,
    private readonly validMs = 10_000,
  ) {}

  /** `beforeVerifying` may throw, to refuse the look-up in the database. */
  callerOf(key: string, beforeVerifying: () => void = () => undefined): Promise<Caller | undefined> {
    const digest = hash('sha256', key, 'base64');
    const cached = this.cached.get(digest);
    if (cached && cached.until > performance.now()) return cached.caller;

    beforeVerifying();
    const caller = this.verify(key);
    caller.catch(() => this.cached.delete(digest));
    if (this.cached.size >= maxCachedKeys) this.cached.clear();
    this.cached.set(digest, { caller, until: performance.now() + this.validMs });
    return caller;
  }

  /** After a revocation through this process, so that it takes effect at once. */
  clear(): void {
    this.cached.clear();
  }
}

interface AuthenticatorDependencies {
  readonly keys: ApiKeyCache;
  /** Per address. */
  readonly handshakes: RateLimiter;
  readonly trustedHops: number;
}

/**
 * Finds the caller of an API key. Looking up a key in the database costs something even when the key is invalid, so look-ups
 * are limited per address; a cached key is always accepted.
 */
export class Authenticator {
  constructor(private readonly dependencies: AuthenticatorDependencies) {}

  addressOf(origin: RequestOrigin): string {
    return clientAddress(origin, this.dependencies.trustedHops);
  }

  /** Undefined for an invalid key. Rejects with `rate_limited`. */
  async callerOf(key: string, origin: RequestOrigin): Promise<Caller | undefined> {
    return this.dependencies.keys.callerOf(key, () => this.countHandshake(origin));
  }

  /** The same for a socket, whose every handshake counts. */
  async callerOfSocket(key: string | undefined, origin: RequestOrigin): Promise<Caller | undefined> {
    this.countHandshake(origin);
    return key === undefined ? undefined : this.dependencies.keys.callerOf(key);
  }

  private countHandshake(origin: RequestOrigin): void {
    this.dependencies.handshakes.consume(this.addressOf(origin));
  }
}
