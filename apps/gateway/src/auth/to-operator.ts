import type { Accounts } from '@rondo/persistence';
import type { Logger } from '@rondo/platform';
import type { GatewayConfig } from '../config';
import { DeploymentOperator } from './deployment-operator';

/** The account that the configured admin key belongs to. */
export function toOperator(
  { accounts }: { accounts: Pick<Accounts, 'seedAdmin'> },
  { RONDO_ADMIN_KEY: key }: Pick<GatewayConfig, 'RONDO_ADMIN_KEY'>,
  log: Logger,
): DeploymentOperator {
  const seedAdmin = async () => {
    const admin = await accounts.seedAdmin(key);
    if (admin.isRevoked) log.warn('the configured admin key was revoked: configure another one');
    return admin;
  };
  return new DeploymentOperator(seedAdmin, (error) => {
    log.warn({ error }, 'admin key not seeded yet');
  });
}
