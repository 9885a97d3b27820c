import type { AccountId } from '@rondo/contract';
import type { Caller, Accounts } from '@rondo/persistence';
import { ApiError, retryAfter } from '../problems/api-error';
import type { Logger } from '@rondo/platform';
import type { GatewayConfig } from '../config';

const retryMs = 1_000;

/**
 * The account that operates this deployment: that of the key in the configuration. Other accounts have admins of their own,
 * who must not see its queues or create accounts.
 */
export class DeploymentOperator {
  private accountId: AccountId | undefined;
  private retry: NodeJS.Timeout | undefined;

  constructor(
    private readonly seedAdmin: () => Promise<Caller>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Makes the configured key valid; retries while the database is away. */
  async seed(): Promise<void> {
    try {
      this.accountId = (await this.seedAdmin()).accountId;
    } catch (error) {
      this.onError(error);
      this.retry = setTimeout(() => void this.seed(), retryMs);
    }
  }

  /** Whether the caller may operate the deployment. False until the account is known. */
  includes({ scopes, accountId }: Pick<Caller, 'scopes' | 'accountId'>): boolean {
    return scopes.includes('admin') && accountId === this.accountId;
  }

  /** Until the account is known, no admin is refused for good: this may be its own. */
  require(caller: Caller): void {
    const isAdmin = caller.scopes.includes('admin');
    if (this.includes(caller)) return;
    if (isAdmin && this.accountId === undefined) {
      throw new ApiError('service_unavailable', 'The database does not answer.', retryAfter(retryMs / 1_000));
    }
    throw new ApiError('forbidden', 'This needs an admin key of the account that operates this deployment.');
  }

  close(): void {
    clearTimeout(this.retry);
  }
}

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
