import type { AccountId, NewId, RecordedFact } from '@rondo/contract';
import type { Database } from '../database/database';
import { stopRun, unstoppedRuns } from '../api/runs/stop-run';
import { purgeAccount, removedAccounts } from './purge-account';
import { forgetProjects, forgetThreads, purgeThreads } from './purge-thread';

/** Bounds one call; the next one continues. */
const longestMs = 5_000;

export interface PurgeParts {
  readonly database: Database;
  readonly newId: NewId;
  /** Called with the facts of runs that it stopped, to publish them. */
  readonly onStopped: (facts: readonly RecordedFact[]) => void;
}

/**
 * Deletes the data of deleted threads, projects and removed accounts in short transactions. Keeps no progress except in the rows, so
 * that any process can continue where another was killed.
 */
export class Purge {
  constructor(private readonly parts: PurgeParts) {}

  /** Resolves to whether more may be left to delete now. Processes may call it concurrently. */
  async some(): Promise<boolean> {
    const until = performance.now() + longestMs;
    while (await this.step()) if (performance.now() > until) return true;
    return false;
  }

  /** Runs a few transactions; resolves to false when nothing can be deleted now. */
  async step(): Promise<boolean> {
    const { database } = this.parts;
    if (await database.transaction(purgeThreads)) return true;
    if (await forgetThreads(database.sql)) return true;
    if (await database.transaction(forgetProjects)) return true;
    for (const account of await removedAccounts(database.sql)) if (await this.purge(account)) return true;
    return false;
  }

  private async purge(accountId: AccountId): Promise<boolean> {
    const { database } = this.parts;
    if (await this.stopRuns(accountId)) return true; // queued runs may have been promoted
    return purgeAccount(database.sql, accountId);
  }

  /** Workers see the stop request with their next heartbeat. Resolves to false when no run was left to stop. */
  private async stopRuns(accountId: AccountId): Promise<boolean> {
    const { database, newId, onStopped } = this.parts;
    const runs = await unstoppedRuns(database.sql, accountId);
    for (const runId of runs) {
      const { facts } = await stopRun(database, newId, { accountId, runId, reason: 'account removed' });
      onStopped(facts);
    }
    return runs.length > 0;
  }
}
