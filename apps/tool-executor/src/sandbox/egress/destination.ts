import { isIP } from 'node:net';
import type { EgressSettings } from '../sandbox-settings';
import { isPublicAddress } from './address-policy';
import { authority } from './internal-host';

export type Resolve = (host: string) => Promise<string[]>;

export interface EgressRules extends EgressSettings {
  resolve: Resolve;
  /** Which addresses may be reached; only tests look elsewhere than at the public internet. */
  isAllowed?: (address: string) => boolean;
}

/** Where a request may go: the very address that was checked, so that a second look-up cannot answer otherwise. */
export interface Destination {
  address: string;
  port: number;
}

export class EgressRefusal extends Error {}

const mailPorts = [25, 465, 587];

/** Whether anything can be reached at all. */
export const leadsSomewhere = ({ policy, internalHosts }: EgressSettings): boolean =>
  policy !== 'none' || internalHosts.length > 0;

/** Decides about one request. Rejects with EgressRefusal, whose message the command gets to read. */
export async function decideDestination({ hostname, port }: { hostname: string; port: number }, rules: EgressRules) {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const isInternal = rules.internalHosts.includes(authority({ hostname: hostname.toLowerCase(), port }));
  if (!isInternal) refuseByName({ host, port }, rules);

  const addresses = isIP(host) ? [host] : await rules.resolve(host);
  const isAllowed = isInternal ? () => true : (rules.isAllowed ?? isPublicAddress);
  const [address] = addresses;
  if (address === undefined || !addresses.every(isAllowed)) {
    throw new EgressRefusal(`${host} is not a public address.`);
  }
  return { address, port } satisfies Destination;
}

function refuseByName({ host, port }: { host: string; port: number }, rules: EgressRules): void {
  if (rules.policy === 'none') throw new EgressRefusal('This sandbox has no network access.');
  if (mailPorts.includes(port)) throw new EgressRefusal(`Port ${port} is closed: sandboxes send no mail.`);
  if (rules.allowedHosts && !rules.allowedHosts.some((pattern) => matches(host, pattern.toLowerCase()))) {
    throw new EgressRefusal(`${host} is not among the allowed hosts.`);
  }
}

function matches(host: string, pattern: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}
