import type { ApiKeyId } from '@rondo/contract';

interface Connection {
  readonly keyId: ApiKeyId;
  readonly cut: () => void;
}

/** Connections outlive the request that opened them; when their key is revoked, they are cut. */
export class OpenConnections {
  private readonly open = new Set<Connection>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly revokedOf: (keyIds: readonly ApiKeyId[]) => Promise<readonly ApiKeyId[]>,
    private readonly onTrouble: (error: unknown) => void,
    checkMs = 10_000,
  ) {
    this.timer = setInterval(() => void this.check().catch(this.onTrouble), checkMs);
  }

  get count(): number {
    return this.open.size;
  }

  /** Returns what to call when the connection has ended by itself. */
  add(keyId: ApiKeyId, cut: () => void): () => void {
    const connection = { keyId, cut };
    this.open.add(connection);
    return () => this.open.delete(connection);
  }

  async check(): Promise<void> {
    const keyIds = [...new Set([...this.open].map(({ keyId }) => keyId))];
    if (keyIds.length === 0) return;

    const revoked = new Set(await this.revokedOf(keyIds));
    for (const { keyId, cut } of this.open) if (revoked.has(keyId)) cut();
  }

  close(): void {
    clearInterval(this.timer);
  }
}
