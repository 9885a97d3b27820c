import {
  CheckedDestination,
  type IsAllowed,
  type OutboundProxy,
  OutboundRefusal,
  type Resolve,
  type Target,
  authority,
  bareHost,
  operatorsRules,
} from '@rondo/platform';
import type { EgressSettings } from '../provider/sandbox-settings';

export interface EgressRules extends EgressSettings {
  readonly resolve: Resolve;
  /** Resolves internal hosts, which the operator has listed. */
  readonly resolveInternal: Resolve;
  /** Judges the addresses of hosts that are not internal. */
  readonly isAllowed: IsAllowed;
  /** What requests to hosts that are not internal leave through. */
  readonly proxy?: OutboundProxy | undefined;
}

/** The message is for the command to read. */
export class EgressRefusal extends OutboundRefusal {
  override readonly name = 'EgressRefusal';
}

const mailPorts = [25, 465, 587];

/** Whether the rules admit anything at all. */
export const admitsAnything = ({ policy, internalHosts }: EgressSettings): boolean =>
  policy !== 'none' || internalHosts.length > 0;

/** Decides about one request. Rejects with OutboundRefusal, whose message the command gets to read. */
export async function decideDestination(target: Target, rules: EgressRules): Promise<CheckedDestination> {
  const { hostname, port } = target;
  if (rules.internalHosts.includes(authority({ hostname: hostname.toLowerCase(), port }))) {
    return CheckedDestination.check(target, operatorsRules(rules.resolveInternal));
  }
  refuseByName({ host: bareHost(hostname), port }, rules);
  return CheckedDestination.check(target, { ...rules, exceptions: 'SANDBOX_INTERNAL_HOSTS' });
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
