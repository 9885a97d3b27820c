import type { AccountId, NewId, RecordedFact } from '@rondo/contract';
import type { Database } from '../database/database';
import { listUnstopped, stopRun } from '../api/runs/stop-run';
import { tookTooLong } from '../database/sql-error';
import { isDatabaseUnavailable } from '../database/unavailable';
import { purgeAccount, listRemovedAccounts } from './purge-account';
import { forgetProjects, forgetThreads, purgeThreads } from './purge-thread';

/** Bounds one call; the next one continues. */
const longestMs = 5_000;
/** How long others go first, in milliseconds, after a failure. */
const tryAgainMs = 600_000;

export interface PurgeParts {
  readonly database: Database;
  readonly newId: NewId;
  /** Called with the facts of runs that it stopped, to publish them. */
  readonly onStopped: (facts: readonly RecordedFact[]) => void;
  /** Called with a thread or an account whose data could not be deleted. It is tried again. */
  readonly onFailed?: (failure: { readonly id: string; readonly error: unknown }) => void;
}

/**
 * Deletes the data of deleted threads, projects and removed accounts in short transactions. Keeps no progress except in the rows, so
 * that any process can continue where another was killed.
 */
export class Purge {
  private readonly failedAt = new Map<string, number>();

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
    if (await this.purgeNextThread()) return true;
    if (await forgetThreads(database.sql)) return true;
    if (await database.transaction(forgetProjects)) return true;
    const failed = this.listFailedLately();
    for (const account of await listRemovedAccounts(database.sql))
      if (!failed.includes(account) && (await this.purge(account))) return true;
    return false;
  }

  private async purgeNextThread(): Promise<boolean> {
    let thread: string | undefined;
    const choice = { without: this.listFailedLately(), chosen: (id: string) => (thread = id) };
    try {
      return await this.parts.database.transaction((sql) => purgeThreads(sql, choice));
    } catch (error) {
      this.noteFailure(thread, error);
      return true;
    }
  }

  /** One whose data cannot be deleted keeps no other waiting. Throws where nothing can be deleted at the moment. */
  private noteFailure(id: string | undefined, error: unknown): void {
    if (id === undefined || (isDatabaseUnavailable(error) && !tookTooLong(error))) throw error;
    this.failedAt.set(id, performance.now());
    this.parts.onFailed?.({ id, error });
  }

  private listFailedLately(): string[] {
    const since = performance.now() - tryAgainMs;
    for (const [id, at] of this.failedAt) if (at < since) this.failedAt.delete(id);
    return [...this.failedAt.keys()];
  }

  private async purge(accountId: AccountId): Promise<boolean> {
    const { database } = this.parts;
    try {
      if (await this.stopRuns(accountId)) return true; // queued runs may have been promoted
      return await purgeAccount(database.sql, accountId);
    } catch (error) {
      this.noteFailure(accountId, error);
      return false;
    }
  }

  /** Workers see the stop request with their next heartbeat. Resolves to false when no run was left to stop. */
  private async stopRuns(accountId: AccountId): Promise<boolean> {
    const { database, newId, onStopped } = this.parts;
    const runs = await listUnstopped(database.sql, accountId);
    for (const runId of runs) {
      const { facts } = await stopRun(database, newId, { accountId, runId, reason: 'account removed' });
      onStopped(facts);
    }
    return runs.length > 0;
  }
}
