import type { AccountId } from '@rondo/contract';
import { KeyedMutex } from '@rondo/platform';
import { ApiError, retryAfter } from '../problems/api-error';

/** Some turns of such writes, and as long as a connection to Postgres may take to open. */
const usualWaitMs = 10_000;
const retryAfterS = 1;

/**
 * Writes of an account that count come one after the other, so that they occupy one connection to Postgres. One whose turn does not
 * come in time is not carried out: while Postgres does not answer, each of those before it may wait for as long.
 */
export class AccountTurns {
  private readonly turns = new KeyedMutex();

  constructor(private readonly longestWaitMs = usualWaitMs) {}

  /** Rejects with `service_unavailable` in that case. */
  async run<Written>(account: AccountId, write: () => Promise<Written>): Promise<Written> {
    const inTime = AbortSignal.timeout(this.longestWaitMs);
    try {
      return await this.turns.run(account, write, inTime);
    } catch (error) {
      if (!inTime.aborted || error !== inTime.reason) throw error;
      const detail = 'Other requests of this account were not done in time. Nothing was stored.';
      throw new ApiError('service_unavailable', detail, retryAfter(retryAfterS));
    }
  }
}
