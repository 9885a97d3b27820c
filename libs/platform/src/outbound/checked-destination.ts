import { isIP } from 'node:net';
import type { Resolve } from './resolve';

/** Why a request may not leave. The message is for the caller that asked for it. */
export class OutboundRefusal extends Error {
  override readonly name: string = 'OutboundRefusal';
}

export interface Target {
  /** As `URL.hostname` has it: version 6 in brackets. */
  readonly hostname: string;
  readonly port: number;
}

export interface OutboundRules {
  readonly resolve: Resolve;
  readonly isAllowed: (address: string) => boolean;
}

/**
 * The very address and port that a connection may be made to. Only `check` makes one, and `dial` takes nothing else, so
 * that no second look-up can lead elsewhere.
 */
export class CheckedDestination {
  // Makes the type nominal: an object that merely looks like this is not accepted.
  readonly #address: string;
  readonly #port: number;

  private constructor(address: string, port: number) {
    this.#address = address;
    this.#port = port;
  }

  get address(): string {
    return this.#address;
  }

  get port(): number {
    return this.#port;
  }

  /** For code that the compiler has not seen: throws where the destination was made in another way. */
  static proven(destination: CheckedDestination): CheckedDestination {
    if (#address in destination) return destination;
    throw new TypeError('The destination was not checked.');
  }

  /** Resolves once, and refuses the name when any of its addresses is not allowed. */
  static async check({ hostname, port }: Target, { resolve, isAllowed }: OutboundRules): Promise<CheckedDestination> {
    const host = bareHost(hostname);
    const addresses = isIP(host) ? [host] : await resolve(host);
    const [address] = addresses;
    if (address === undefined || !addresses.every((one) => isIP(one) !== 0 && isAllowed(one))) {
      throw new OutboundRefusal(`${host} is not a public address.`);
    }
    return new CheckedDestination(address, port);
  }
}

/** A host name without the brackets that URLs put around version 6 addresses. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '').toLowerCase();
