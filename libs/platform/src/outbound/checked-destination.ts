import { isIP } from 'node:net';
import { authority, type Target, bareHost } from './target';
import { type OutboundProxy, isPublicName } from './outbound-proxy';
import type { Resolve } from './resolve';

/** Why a request is refused. The message is for the caller that made it. */
export class OutboundRefusal extends Error {
  override readonly name: string = 'OutboundRefusal';
}

export interface OutboundRules {
  readonly resolve: Resolve;
  readonly isAllowed: (address: string) => boolean;
  /** Judges names before a proxy is asked for them, which then decides about their addresses. By default `isPublicName`. */
  readonly isAllowedName?: (name: string) => boolean;
  /** What connections leave through, except those to hosts that are reached directly. */
  readonly proxy?: OutboundProxy | undefined;
  /** The setting in which an operator names hosts that may be reached all the same. */
  readonly exceptions?: string;
}

/** For hosts that the operator has named: they may have any address. */
export const operatorsRules = (resolve: Resolve, proxy?: OutboundProxy): OutboundRules => ({
  ...{ resolve, proxy },
  isAllowed: () => true,
  isAllowedName: () => true,
});

interface Admitted {
  readonly address: string;
  readonly port: number;
  readonly proxy?: URL | undefined;
}

/**
 * What a connection may be made to. Only `check` creates one, and `dial` accepts nothing else, so that no second name
 * resolution can return another address (DNS rebinding).
 */
export class CheckedDestination {
  // Makes the type nominal: an object that merely looks like this is not accepted.
  readonly #admitted: Admitted;

  private constructor(admitted: Admitted) {
    this.#admitted = admitted;
  }

  /** With a proxy it may be a name, which the proxy resolves. */
  get address(): string {
    return this.#admitted.address;
  }

  get port(): number {
    return this.#admitted.port;
  }

  /** The proxy that is to be asked for the connection; undefined: none. */
  get proxy(): URL | undefined {
    return this.#admitted.proxy;
  }

  /** The check at run time, for code that casts: throws when the destination was not created by `check`. */
  static proven(destination: CheckedDestination): CheckedDestination {
    if (#admitted in destination) return destination;
    throw new TypeError('The destination was not checked.');
  }

  /**
   * Resolves once, and refuses the name when any of its addresses is not allowed. Where a proxy resolves names, a name is judged by
   * its form alone.
   */
  static async check(target: Target, rules: OutboundRules): Promise<CheckedDestination> {
    const { hostname, port } = target;
    const { resolve, isAllowed, isAllowedName = isPublicName } = rules;
    const host = bareHost(hostname);
    const proxy = rules.proxy?.serverFor(target);
    if (proxy && rules.proxy?.byAddress === false && !isIP(host)) {
      if (!isAllowedName(host)) throw new OutboundRefusal(`${host} is not a public name.`);
      return new CheckedDestination({ address: host, port, proxy });
    }
    const addresses = isIP(host) ? [host] : await resolve(host);
    const [address] = addresses;
    if (address === undefined || !addresses.every((one) => isIP(one) !== 0 && isAllowed(one))) {
      const { exceptions } = rules;
      const remedy = exceptions === undefined ? '' : ` An operator can name ${authority(target)} in ${exceptions}.`;
      throw new OutboundRefusal(`${host} is not a public address.${remedy}`);
    }
    return new CheckedDestination({ address, port, proxy });
  }
}
