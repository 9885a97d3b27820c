import {
  CheckedDestination,
  OutboundRefusal,
  type OutboundRules,
  type Resolve,
  type Target,
  authority,
  operatorsRules,
  toTarget,
} from '@rondo/platform';

export interface EndpointRules extends OutboundRules {
  /** `host:port` of endpoints that may be reached though their address is private, also without TLS. */
  readonly internalHosts: readonly string[];
  readonly resolveInternal: Resolve;
}

/** The address for one attempt, resolved anew each time. Rejects with OutboundRefusal for one that is not public. */
export const endpointDestination =
  (rules: EndpointRules) =>
  (target: Target): Promise<CheckedDestination> =>
    CheckedDestination.check(target, isInternal(target, rules) ? operatorsRules(rules.resolveInternal) : rules);

/** Why no webhook can be sent there. A name that cannot be resolved now may be resolved later, and is accepted. */
export async function findUrlProblem(text: string, rules: EndpointRules): Promise<string | undefined> {
  const url = new URL(text);
  if (url.username || url.password) return 'must not contain a user name or a password';
  if (url.protocol === 'http:' && !isInternal(toTarget(url), rules)) return 'must begin with https://';
  try {
    await endpointDestination(rules)(toTarget(url));
  } catch (error) {
    if (error instanceof OutboundRefusal) return 'must be at a public address';
  }
  return undefined;
}

export const isInternal = (target: Target, { internalHosts }: EndpointRules): boolean =>
  internalHosts.includes(authority(target));
