import { BlockList, isIP } from 'node:net';

/** Networks that may lead somewhere that is not the internet. Those set aside for documentation lead nowhere and need no entry. */
const forbiddenV4 = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // link-local: cloud metadata lives here
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3], // multicast, reserved, broadcast
] as const) {
  forbiddenV4.addSubnet(network, prefix, 'ipv4');
}

/** Of version 6 only global unicast is public, less what embeds a version 4 address or is set aside. */
const globalV6 = new BlockList();
globalV6.addSubnet('2000::', 3, 'ipv6');
const forbiddenV6 = new BlockList();
for (const [network, prefix] of [
  ['2001::', 23], // Teredo, ORCHID and other protocol assignments
  ['2002::', 16], // 6to4
] as const) {
  forbiddenV6.addSubnet(network, prefix, 'ipv6');
}

/** Whether an address belongs to the public internet. A version 6 address that wraps a version 4 one is never public. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !forbiddenV4.check(address, 'ipv4');
    case 6:
      return globalV6.check(address, 'ipv6') && !forbiddenV6.check(address, 'ipv6');
  }
  return false;
}
