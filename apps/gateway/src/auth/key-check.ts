import type { Caller } from '@rondo/persistence';
import { type Asker, clientAddress } from './client-address';
import type { KeyRing } from './key-ring';
import type { RateLimiter } from './rate-limiter';

interface KeyCheckPorts {
  readonly keys: KeyRing;
  /** Per address. */
  readonly handshakes: RateLimiter;
  readonly trustedHops: number;
}

/**
 * Whom a key speaks for. To ask the database costs something and needs no good key, so each address may do it only so
 * often; a key that was asked for a moment ago is always heard.
 */
export class KeyCheck {
  constructor(private readonly ports: KeyCheckPorts) {}

  addressOf(asker: Asker): string {
    return clientAddress(asker, this.ports.trustedHops);
  }

  /** Undefined for a key that is not good. Rejects with `rate_limited`. */
  async callerOf(key: string, asker: Asker): Promise<Caller | undefined> {
    return this.ports.keys.callerOf(key, () => this.beginHandshake(asker));
  }

  /** The same for a socket, of which each counts. */
  async callerOfSocket(key: string | undefined, asker: Asker): Promise<Caller | undefined> {
    this.beginHandshake(asker);
    return key === undefined ? undefined : this.ports.keys.callerOf(key);
  }

  private beginHandshake(asker: Asker): void {
    this.ports.handshakes.take(this.addressOf(asker));
  }
}
