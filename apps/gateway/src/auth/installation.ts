import type { AccountId } from '@rondo/contract';
import type { Caller } from '@rondo/persistence';
import { Refusal } from '../problems/refusals';

const retryMs = 1_000;

/**
 * Whose installation this is: the account of the key in the configuration. Other accounts have admins of their own,
 * who must not see its queues or make accounts.
 */
export class Installation {
  private operator: AccountId | undefined;
  private retry: NodeJS.Timeout | undefined;

  constructor(
    private readonly seedAdmin: () => Promise<Caller>,
    private readonly onTrouble: (error: unknown) => void,
  ) {}

  /** Makes sure that the configured key is good; tries again while the database is away. */
  async open(): Promise<void> {
    try {
      this.operator = (await this.seedAdmin()).accountId;
    } catch (error) {
      this.onTrouble(error);
      this.retry = setTimeout(() => void this.open(), retryMs);
    }
  }

  requireOperator(caller: Caller): void {
    if (caller.accountId === this.operator && caller.scopes.includes('admin')) return;
    throw new Refusal('forbidden', 'This needs an admin key of the account that runs this installation.');
  }

  close(): void {
    clearTimeout(this.retry);
  }
}
