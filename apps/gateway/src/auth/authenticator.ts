import { hash } from 'node:crypto';
import { type Caller, clientTokenPrefix } from '@rondo/persistence';
import { ApiError } from '../problems/api-error';
import { type RequestOrigin, clientAddress } from './client-address';
import { bearerKey } from './credentials';
import type { RateLimiter } from './rate-limiter';
import { isSameOrigin, sessionCookie } from './browser-cookie';

interface CachedCaller {
  readonly caller: Promise<Caller | undefined>;
  readonly until: number;
}

const maxCachedKeys = 10_000;
const maxKnownKeys = 10_000;

/** How the look-ups of one address are limited. `begin` may throw, to refuse one; `found` says that it had a caller. */
interface LookUpLimit {
  readonly begin: () => void;
  readonly found: () => void;
}

/** The callers of recently used secrets. An entry is valid for ten seconds, so that a revoked one soon fails everywhere. */
export class CallerCache {
  private readonly cached = new Map<string, CachedCaller>();
  /** Digests of secrets that had a caller when they were last looked up, the oldest first. */
  private readonly known = new Set<string>();

  constructor(
    private readonly verify: (key: string) => Promise<Caller | undefined>,
    private readonly validMs = 10_000,
  ) {}

  /** Looking up a secret that is known costs nothing of the limit: others at its address cannot keep it out. */
  findCaller(key: string, limit?: LookUpLimit): Promise<Caller | undefined> {
    const digest = hash('sha256', key, 'base64');
    const cached = this.cached.get(digest);
    if (cached && cached.until > performance.now()) return cached.caller.then(dropExpired);

    const counts = this.known.has(digest) ? undefined : limit;
    counts?.begin();
    const caller = this.verify(key);
    caller.then(
      (found) => {
        this.remember(digest, found !== undefined);
        if (found) counts?.found();
      },
      () => this.cached.delete(digest),
    );
    if (this.cached.size >= maxCachedKeys) this.cached.clear();
    this.cached.set(digest, { caller, until: performance.now() + this.validMs });
    return caller;
  }

  private remember(digest: string, isKnown: boolean): void {
    this.known.delete(digest);
    if (isKnown) this.known.add(digest);
    const [oldest] = this.known;
    if (oldest !== undefined && this.known.size > maxKnownKeys) this.known.delete(oldest);
  }

  /** After a revocation through this process, so that it takes effect at once. */
  clear(): void {
    this.cached.clear();
  }
}

const dropExpired = (caller: Caller | undefined): Caller | undefined =>
  caller?.expiresAt && caller.expiresAt.getTime() <= Date.now() ? undefined : caller;

interface AuthenticatorDependencies {
  readonly keys: CallerCache;
  readonly clients: CallerCache;
  readonly sessions: CallerCache;
  /** Per address: sockets. */
  readonly handshakes: RateLimiter;
  /** Per address: look-ups of secrets that have no caller. */
  readonly failures: RateLimiter;
  readonly trustedHops: number;
}

/** The part of a request that says who makes it. */
interface AuthenticatedRequest extends RequestOrigin {
  readonly method?: string | undefined;
}

/**
 * Finds the caller of a request. Looking up a key in the database costs something even when the key is invalid, so look-ups
 * that find no caller are limited per address; a key that was valid before is always looked up.
 */
export class Authenticator {
  constructor(private readonly dependencies: AuthenticatorDependencies) {}

  readAddress(origin: RequestOrigin): string {
    return clientAddress(origin, this.dependencies.trustedHops);
  }

  /** By the key in its header, or else by its cookie. Undefined for an invalid one. */
  async callerOfRequest(request: AuthenticatedRequest): Promise<Caller | undefined> {
    const { authorization } = request.headers;
    if (authorization === undefined) return this.callerOfCookie(request, this.lookUpLimit(request));
    const key = bearerKey(authorization);
    return key === undefined ? undefined : this.findCaller(key, request);
  }

  /** Undefined for an invalid key. Rejects with `rate_limited`. */
  async findCaller(key: string, origin: RequestOrigin): Promise<Caller | undefined> {
    return this.findCache(key).findCaller(key, this.lookUpLimit(origin));
  }

  /**
   * The same for a socket, whose every handshake counts. A proxy that adds a key can only add a header. A socket can send
   * messages, so a page that has a session must be of this origin.
   */
  async callerOfSocket(token: string | undefined, { headers, socket }: RequestOrigin): Promise<Caller | undefined> {
    this.countHandshake({ headers, socket });
    const key = token ?? bearerKey(headers.authorization);
    if (key !== undefined) return this.findCache(key).findCaller(key);
    return this.callerOfCookie({ headers, socket });
  }

  private findCache(key: string): CallerCache {
    return key.startsWith(clientTokenPrefix) ? this.dependencies.clients : this.dependencies.keys;
  }

  /** Throws `rate_limited`. */
  countHandshake(origin: RequestOrigin): void {
    this.dependencies.handshakes.consume(this.readAddress(origin));
  }

  private lookUpLimit(origin: RequestOrigin): LookUpLimit {
    const { failures } = this.dependencies;
    const address = this.readAddress(origin);
    return { begin: () => failures.consume(address), found: () => failures.giveBack(address) };
  }

  private async callerOfCookie(
    { method, headers }: AuthenticatedRequest,
    limit?: LookUpLimit,
  ): Promise<Caller | undefined> {
    const secret = sessionCookie.read(headers);
    if (secret === undefined) return undefined;
    if (!isSameOrigin(headers, { isRead: method === 'GET' || method === 'HEAD' })) {
      throw new ApiError('forbidden', 'A session is only accepted from pages of the same origin.');
    }
    return this.dependencies.sessions.findCaller(secret, limit);
  }
}
