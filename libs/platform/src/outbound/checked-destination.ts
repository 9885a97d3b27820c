import { isIP } from 'node:net';
import type { Resolve } from './resolve';

/** Why a request is refused. The message is for the caller that made it. */
export class OutboundRefusal extends Error {
  override readonly name: string = 'OutboundRefusal';
}

export interface Target {
  /** As `URL.hostname` has it: version 6 in brackets. */
  readonly hostname: string;
  readonly port: number;
}

/** Where a request for an http or https URL goes. */
export const targetOf = ({ protocol, hostname, port }: URL): Target => ({
  hostname,
  port: Number(port || (protocol === 'http:' ? 80 : 443)),
});

export interface OutboundRules {
  readonly resolve: Resolve;
  readonly isAllowed: (address: string) => boolean;
}

/**
 * The address and port that a connection may be made to. Only `check` creates one, and `dial` accepts nothing else, so
 * that no second name resolution can return another address (DNS rebinding).
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

  /** The check at run time, for code that casts: throws when the destination was not created by `check`. */
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
