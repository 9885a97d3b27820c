import {
  CheckedDestination,
  OutboundRefusal,
  type Resolve,
  type Target,
  bareHost,
  isPublicAddress,
} from '@rondo/platform';
import type { EgressSettings } from '../sandbox-settings';
import { authority } from './internal-host';

export interface EgressRules extends EgressSettings {
  resolve: Resolve;
  /** Which addresses may be reached; only tests look elsewhere than at the public internet. */
  isAllowed?: (address: string) => boolean;
}

/** The message is for the command to read. */
export class EgressRefusal extends OutboundRefusal {
  override readonly name = 'EgressRefusal';
}

const mailPorts = [25, 465, 587];

/** Whether anything can be reached at all. */
export const leadsSomewhere = ({ policy, internalHosts }: EgressSettings): boolean =>
  policy !== 'none' || internalHosts.length > 0;

/** Decides about one request. Rejects with OutboundRefusal, whose message the command gets to read. */
export async function decideDestination({ hostname, port }: Target, rules: EgressRules): Promise<CheckedDestination> {
  const isInternal = rules.internalHosts.includes(authority({ hostname: hostname.toLowerCase(), port }));
  if (!isInternal) refuseByName({ host: bareHost(hostname), port }, rules);

  const isAllowed = isInternal ? () => true : (rules.isAllowed ?? isPublicAddress);
  return CheckedDestination.check({ hostname, port }, { resolve: rules.resolve, isAllowed });
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
