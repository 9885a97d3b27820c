import type { ApiKeyId } from '@rondo/contract';
import type { ApiKeyCache } from './authenticator';
import type { ConcurrencyLimits } from './concurrency-limits';

interface Connection {
  readonly keyId: ApiKeyId;
  readonly disconnect: () => void;
}

/** Connections outlive the request that opened them; when their key is revoked, they are closed. */
export class OpenConnections {
  private readonly open = new Set<Connection>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly revokedOf: (keyIds: readonly ApiKeyId[]) => Promise<readonly ApiKeyId[]>,
    private readonly onError: (error: unknown) => void,
    checkMs = 10_000,
  ) {
    this.timer = setInterval(() => void this.check().catch(this.onError), checkMs);
  }

  get count(): number {
    return this.open.size;
  }

  /** Returns the function to call when the connection has ended. */
  add(keyId: ApiKeyId, disconnect: () => void): () => void {
    const connection = { keyId, disconnect };
    this.open.add(connection);
    return () => this.open.delete(connection);
  }

  async check(): Promise<void> {
    const keyIds = [...new Set([...this.open].map(({ keyId }) => keyId))];
    if (keyIds.length === 0) return;

    const revoked = new Set(await this.revokedOf(keyIds));
    for (const { keyId, disconnect } of this.open) if (revoked.has(keyId)) disconnect();
  }

  close(): void {
    clearInterval(this.timer);
  }
}

/** Event streams and waits: limited in number per key, and closed when their key is revoked. */
export class LongRequests {
  constructor(
    private readonly limits: Pick<ConcurrencyLimits, 'streams' | 'waits'>,
    private readonly connections: OpenConnections,
  ) {}

  /** Returns the function to call when the request has ended. Throws `too_many_connections`. */
  begin(kind: 'streams' | 'waits', { keyId, disconnect }: Connection): () => void {
    const release = this.limits[kind].acquire(keyId);
    const remove = this.connections.add(keyId, disconnect);
    return () => {
      remove();
      release();
    };
  }
}

/** Makes a revocation take effect at once in this process: keys are looked up again, connections are closed. */
export class Revocations {
  constructor(
    private readonly keys: ApiKeyCache,
    private readonly connections: OpenConnections,
  ) {}

  async apply(): Promise<void> {
    this.keys.clear();
    await this.connections.check();
  }
}
