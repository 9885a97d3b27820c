import type { ApiKeyId } from '@rondo/contract';
import type { KeyLimits } from './key-limits';
import type { OpenConnections } from './open-connections';

/** Requests that are answered late or never end: so many of a key at a time, and none after it is revoked. */
export class HeldRequests {
  constructor(
    private readonly limits: Pick<KeyLimits, 'streams' | 'waits'>,
    private readonly connections: OpenConnections,
  ) {}

  /** Returns what to call when the request has ended. Throws `too_many_connections`. */
  begin(kind: 'streams' | 'waits', { keyId, cut }: { keyId: ApiKeyId; cut: () => void }): () => void {
    const giveBack = this.limits[kind].take(keyId);
    const forget = this.connections.add(keyId, cut);
    return () => {
      forget();
      giveBack();
    };
  }
}
