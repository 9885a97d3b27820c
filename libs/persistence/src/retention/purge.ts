import type { AccountId, NewId, RecordedFact } from '@rondo/contract';
import type { Database } from '../database/database';
import { stopRun } from '../api/runs/stop-run';
import { purgeAccount, removedAccounts, unstoppedRuns } from './purge-account';
import { forgetThreads, purgeThreads } from './purge-thread';

/** Of one call; the next one goes on. */
const longestMs = 5_000;

export interface PurgeParts {
  readonly database: Database;
  readonly mint: NewId;
  /** Hears the facts of runs that it stopped, to publish them. */
  readonly onStopped: (facts: readonly RecordedFact[]) => void;
}

/**
 * Deletes what belongs to deleted threads and removed accounts, in short transactions that each leave less to do. Nothing
 * is remembered but what the rows say, so that any process goes on where another was killed.
 */
export class Purge {
  constructor(private readonly parts: PurgeParts) {}

  /** Answers whether there may be more to do now. Many processes may call it at the same time. */
  async some(): Promise<boolean> {
    const until = performance.now() + longestMs;
    while (await this.step()) if (performance.now() > until) return true;
    return false;
  }

  /** One transaction or a few; false where nothing is left that can be done now. */
  async step(): Promise<boolean> {
    const { database } = this.parts;
    if (await database.transaction(purgeThreads)) return true;
    if (await forgetThreads(database.sql)) return true;
    for (const account of await removedAccounts(database.sql)) if (await this.purge(account)) return true;
    return false;
  }

  private async purge(accountId: AccountId): Promise<boolean> {
    const { database } = this.parts;
    if (await this.stopRuns(accountId)) return true; // others may have come forward
    return purgeAccount(database.sql, accountId);
  }

  /** Their holders find the order with their next heartbeat. False where none was left to stop. */
  private async stopRuns(accountId: AccountId): Promise<boolean> {
    const { database, mint, onStopped } = this.parts;
    const runs = await unstoppedRuns(database.sql, accountId);
    for (const runId of runs) {
      const { facts } = await stopRun(database, mint, { accountId, runId, reason: 'account removed' });
      onStopped(facts);
    }
    return runs.length > 0;
  }
}
