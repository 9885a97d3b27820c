import type { Duplex } from 'node:stream';
import type { PreviewAddress } from '@rondo/messaging';
import type { Sandboxes } from '@rondo/persistence';
import { LruCache } from '@rondo/platform';
import type { Authenticator } from '../auth/authenticator';
import type { RequestOrigin } from '../auth/client-address';
import { ConcurrencyLimit } from '../auth/concurrency-limits';
import { RateLimiter } from '../auth/rate-limiter';
import { ApiError } from '../problems/api-error';

type Host = NonNullable<Awaited<ReturnType<Sandboxes['hosting']>>>;

interface PreviewVisitorsParts {
  readonly sandboxes: Pick<Sandboxes, 'hosting'>;
  readonly authenticator: Pick<Authenticator, 'readAddress' | 'countHandshake'>;
  /** Rejects with ApiError where the executor has no such preview, or nothing answers. */
  readonly connect: (host: Host, address: PreviewAddress, client: AbortSignal) => Promise<Duplex>;
  readonly requestsPerSecond?: number;
}

interface KnownPreview {
  readonly host: Host;
  readonly until: number;
  /** Until then its place need not be looked up. */
  readonly freshUntil: number;
}

export interface Visitor {
  readonly origin: RequestOrigin;
  /** Aborted when the visitor has left. */
  readonly signal: AbortSignal;
}

const usualRequestsPerSecond = 200;
/** Of one address at a time on one gateway. A browser opens six connections, a proxy in front of it as many as its page asks for. */
const atOnce = 48;
const knownForMs = 60_000;
/** A known preview is looked up once in this time, so that it ends with its thread. */
const freshForMs = 1_000;
const mostKnown = 10_000;

/**
 * What clients without a key may ask for. A preview that has answered is known for a while: its requests have a rate of their
 * own and cost a query a second at most. All others count like requests with keys that must be looked up, so guesses of an address end soon.
 */
export class PreviewVisitors {
  private readonly known = new LruCache<string, KnownPreview>(mostKnown);
  private readonly rate: RateLimiter;
  private readonly open = new ConcurrencyLimit(atOnce, {
    code: 'too_many_connections',
    detail: 'Too many requests of this address for previews are open.',
  });

  constructor(private readonly parts: PreviewVisitorsParts) {
    this.rate = new RateLimiter(parts.requestsPerSecond ?? usualRequestsPerSecond, { policy: 'preview' });
  }

  /** A connection for as long as the visitor is there. Rejects with ApiError. */
  async connect(address: PreviewAddress, { origin, signal }: Visitor): Promise<Duplex> {
    const release = this.open.acquire(this.parts.authenticator.readAddress(origin));
    if (signal.aborted) release();
    signal.addEventListener('abort', release, { once: true });
    const key = JSON.stringify([address.threadId, address.port, address.token]);
    try {
      const host = this.admit(key, origin) ?? (await this.lookUp(key, address));
      const connection = await this.parts.connect(host, address, signal);
      this.remember(key, host);
      return connection;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'rate_limited') this.known.delete(key); // moved, or no preview any more
      throw error;
    }
  }

  /** Where the preview is, if that was looked up just now. Throws `rate_limited`. */
  private admit(key: string, origin: RequestOrigin): Host | undefined {
    const known = this.known.get(key);
    const now = performance.now();
    if (!known || known.until <= now) {
      this.parts.authenticator.countHandshake(origin);
      return undefined;
    }
    this.rate.consume(key);
    return known.freshUntil > now ? known.host : undefined;
  }

  private remember(key: string, host: Host): void {
    const now = performance.now();
    const freshUntil = this.known.get(key)?.freshUntil ?? now + freshForMs;
    this.known.set(key, { host, until: now + knownForMs, freshUntil });
  }

  private async lookUp(key: string, { threadId }: PreviewAddress): Promise<Host> {
    const host = await this.parts.sandboxes.hosting(threadId);
    if (!host) throw new ApiError('preview_not_found', 'There is no such preview.');
    const known = this.known.get(key);
    if (known) this.known.set(key, { ...known, host, freshUntil: performance.now() + freshForMs });
    return host;
  }
}
