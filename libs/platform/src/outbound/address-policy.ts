import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { z } from 'zod';

/** Networks that are not the public internet. Those reserved for documentation are never routed and need no entry. */
const forbidden = toBlockList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8',
  '168.63.129.16/32', // Azure's wire server: a public address that each virtual machine has to itself
  '169.254.0.0/16', // link-local: cloud metadata services
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3', // multicast, reserved, broadcast
  '2001::/23', // Teredo, ORCHID and other protocol assignments
  '2002::/16', // 6to4
]);

/** Of version 6 only global unicast is public. What wraps a version 4 address (mapped, NAT64) is outside it, or forbidden. */
const globalV6 = toBlockList(['2000::/3']);

const ownAddressesKeptMs = 5_000;

/** A network such as 10.1.0.0/16, or one address. */
export const network = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()], {
  error: 'expected a network, for example 203.0.113.0/24 or 2001:db8::/32',
});

export type IsAllowed = (address: string) => boolean;

export interface PolicyOptions {
  /** Refused in addition. */
  readonly deniedNetworks?: readonly string[];
  readonly ownAddresses?: () => readonly string[];
}

/** Whether an address belongs to the public internet. A version 6 address that wraps a version 4 one is never public. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !forbidden.check(address, 'ipv4');
    case 6:
      return globalV6.check(address, 'ipv6') && !forbidden.check(address, 'ipv6');
  }
  return false;
}

/**
 * Allows public addresses except those of this host and of the denied networks. A host's own public address reaches
 * services that trust local connections, past the firewall that protects them from outside.
 */
export function publicInternet({
  deniedNetworks = [],
  ownAddresses = interfaceAddresses,
}: PolicyOptions = {}): IsAllowed {
  const denied = toBlockList(deniedNetworks);
  let own = new BlockList();
  let readAt = -Infinity;
  return (address) => {
    if (!isPublicAddress(address)) return false;

    if (performance.now() - readAt > ownAddressesKeptMs) {
      own = toBlockList(ownAddresses());
      readAt = performance.now();
    }
    return ![denied, own].some((list) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'));
  };
}

const interfaceAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address));

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const one of networks) {
    const [address = '', prefix] = one.split('/');
    const version = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, version);
    else list.addSubnet(address, Number(prefix), version);
  }
  return list;
}
