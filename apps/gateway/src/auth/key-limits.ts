import type { GatewayConfig } from '../config';
import { ConcurrencyLimit } from './concurrency-limit';

const connections = (most: number, what: string) =>
  new ConcurrencyLimit(most, {
    code: 'too_many_connections',
    detail: `An API key can have ${most} ${what} open at a time on one gateway.`,
  });

/** What one API key, or one address without a key, may hold of this process at a time. */
export class KeyLimits {
  readonly sockets: ConcurrencyLimit;
  readonly streams: ConcurrencyLimit;
  readonly waits: ConcurrencyLimit;
  /** Per address. */
  readonly keylessSockets: ConcurrencyLimit;
  /** Of requests that are being read or answered. */
  readonly bodyBytes: ConcurrencyLimit;

  constructor(config: GatewayConfig) {
    this.sockets = connections(config.SOCKETS_PER_KEY, 'sockets');
    this.streams = connections(config.STREAMS_PER_KEY, 'event streams');
    this.waits = connections(config.WAITS_PER_KEY, 'waits');
    this.keylessSockets = new ConcurrencyLimit(Math.ceil(2 * config.HANDSHAKES_PER_SECOND), {
      code: 'too_many_connections',
      detail: 'Too many connections of this address have shown no key.',
    });
    this.bodyBytes = new ConcurrencyLimit(Math.max(config.BODY_BYTES_PER_KEY, config.BODY_LIMIT_BYTES), {
      code: 'too_many_bytes_in_flight',
      detail: `The requests of an API key that are under way can have ${config.BODY_BYTES_PER_KEY} bytes together.`,
    });
  }
}
