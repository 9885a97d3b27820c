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
  readonly authenticator: Pick<Authenticator, 'addressOf' | 'countHandshake'>;
  /** Rejects with ApiError where the executor has no such preview, or nothing answers. */
  readonly connect: (host: Host, address: PreviewAddress, client: AbortSignal) => Promise<Duplex>;
  readonly requestsPerSecond?: number;
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
const mostKnown = 10_000;

/**
 * What clients without a key may ask for. A preview that has answered is known for a while: its requests have a rate of their
 * own and cost no query. All others count like requests with keys that must be looked up, so guesses of an address end soon.
 */
export class PreviewVisitors {
  private readonly known = new LruCache<string, { readonly host: Host; readonly until: number }>(mostKnown);
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
    const release = this.open.acquire(this.parts.authenticator.addressOf(origin));
    if (signal.aborted) release();
    signal.addEventListener('abort', release, { once: true });
    const key = JSON.stringify([address.threadId, address.port, address.token]);
    const host = this.hostIfKnown(key) ?? (await this.lookUp(address, origin));
    try {
      const connection = await this.parts.connect(host, address, signal);
      this.known.set(key, { host, until: performance.now() + knownForMs });
      return connection;
    } catch (error) {
      this.known.delete(key); // it may have moved, or be no preview any more
      throw error;
    }
  }

  /** Throws `rate_limited`. */
  private hostIfKnown(key: string): Host | undefined {
    const known = this.known.get(key);
    if (!known || known.until <= performance.now()) return undefined;
    this.rate.consume(key);
    return known.host;
  }

  private async lookUp({ threadId }: PreviewAddress, origin: RequestOrigin): Promise<Host> {
    this.parts.authenticator.countHandshake(origin);
    const host = await this.parts.sandboxes.hosting(threadId);
    if (!host) throw new ApiError('preview_not_found', 'There is no such preview.');
    return host;
  }
}
