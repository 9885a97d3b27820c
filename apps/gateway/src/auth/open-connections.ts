import type { AccountId, CallerId, SessionId } from '@rondo/contract';
import type { Caller } from '@rondo/persistence';
import { PeriodicTask } from '@rondo/platform';
import type { CallerCache } from './authenticator';
import type { ConcurrencyLimits } from './concurrency-limits';
import { Holding } from './memory-budget';

interface Connection {
  readonly caller: Caller;
  readonly disconnect: () => void;
}

/** What a connection was opened with: an account, a key of it or a user of an outside issuer, and possibly a session. */
export type CredentialId = AccountId | CallerId | SessionId;

const listIds = ({ accountId, keyId, sessionId }: Caller): CredentialId[] => [
  ...[accountId, keyId],
  ...(sessionId === undefined ? [] : [sessionId]),
];

/** Connections outlive the request that opened them; when their key is revoked, or their session or account ends, they are closed. */
export class OpenConnections {
  private readonly open = new Set<Connection>();
  private readonly checks: PeriodicTask;

  constructor(
    private readonly readRevoked: (ids: readonly CredentialId[]) => Promise<readonly CredentialId[]>,
    onError: (error: unknown) => void,
    checkMs = 1_000,
  ) {
    this.checks = new PeriodicTask({ everyMs: checkMs, work: () => this.check(), failed: onError });
    this.checks.start();
  }

  get count(): number {
    return this.open.size;
  }

  /** Returns the function to call when the connection has ended. */
  add(caller: Caller, disconnect: () => void): () => void {
    const connection = { caller, disconnect };
    this.open.add(connection);
    const expiry = onExpiry(caller, disconnect);
    return () => {
      clearTimeout(expiry);
      this.open.delete(connection);
    };
  }

  async check(): Promise<void> {
    const ids = [...new Set([...this.open].flatMap(({ caller }) => listIds(caller)))];
    if (ids.length === 0) return;

    const revoked = new Set(await this.readRevoked(ids));
    for (const { caller, disconnect } of this.open) {
      const isExpired = caller.expiresAt !== undefined && caller.expiresAt.getTime() <= Date.now();
      if (isExpired || listIds(caller).some((id) => revoked.has(id))) disconnect();
    }
  }

  close(): void {
    void this.checks.stop();
  }
}

/** What a timer can wait for, a bit less than 25 days. A connection of a longer session is checked until then. */
const longestTimerMs = 2 ** 31 - 1;

function onExpiry({ expiresAt }: Caller, disconnect: () => void): NodeJS.Timeout | undefined {
  const waitMs = expiresAt === undefined ? Infinity : expiresAt.getTime() - Date.now();
  return waitMs > longestTimerMs ? undefined : setTimeout(disconnect, waitMs).unref();
}

/** Event streams and waits: limited in number per account, and closed when their key is revoked. */
export class LongRequests {
  constructor(
    private readonly limits: Pick<ConcurrencyLimits, 'streams' | 'waits' | 'memory' | 'acquireClient'>,
    private readonly connections: OpenConnections,
  ) {}

  /** For what the caller of one has not read yet. */
  holdUnread({ accountId }: Caller): Holding {
    return new Holding(this.limits.memory, accountId);
  }

  /** Returns the function to call when the request has ended. Throws `too_many_connections`. */
  begin(kind: 'streams' | 'waits', { caller, disconnect }: Connection): () => void {
    const releaseClient = this.limits.acquireClient(caller);
    try {
      const release = this.limits[kind].acquire(caller.accountId);
      const remove = this.connections.add(caller, disconnect);
      return () => {
        remove();
        release();
        releaseClient();
      };
    } catch (error) {
      releaseClient();
      throw error;
    }
  }
}

/** Makes a revocation take effect at once in this process: secrets are looked up again, connections are closed. */
export class Revocations {
  constructor(
    private readonly caches: readonly CallerCache[],
    private readonly connections: OpenConnections,
  ) {}

  async apply(): Promise<void> {
    for (const cache of this.caches) cache.clear();
    await this.connections.check();
  }
}
