import type { IncomingHttpHeaders } from 'node:http';
import { isIPv6 } from 'node:net';

/** The part of a request that identifies its client. */
export interface RequestOrigin {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/**
 * The address that limits per address count: with `hops` trusted proxies in front, the one that the outermost of them saw. A
 * client can write into the header only to the left of that. For IPv6 it is the /64 network, since a host has a whole one.
 */
export function clientAddress({ headers, socket }: RequestOrigin, hops: number): string {
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').reverse();
  const seen = [socket.remoteAddress ?? '', ...forwarded.map((address) => address.trim()).filter(Boolean)];
  return toNetwork(seen[Math.min(hops, seen.length - 1)] ?? '');
}

function toNetwork(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  return isIPv6(address) ? `${listGroups(address).slice(0, 4).join(':')}::/64` : address;
}

/** All eight groups, in their normal form. */
function listGroups(address: string): string[] {
  const { hostname } = new URL(`http://[${address.replace(/%.*$/, '')}]`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const left = head.split(':').filter(Boolean);
  const right = (tail ?? '').split(':').filter(Boolean);
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  return tail === undefined ? left : [...left, ...zeros, ...right];
}
