import { LastingKeys } from '../database/lasting-keys';
import { isDead } from '../database/liveness-lock';
import type { Sql } from '../database/sql';

const ownersWithoutLock = `select owner from presences where ${isDead}`;

/** Finds dead lease owners. One missing lock is no proof: a live process whose connection broke locks again in a moment. */
export class DeadHolders {
  private readonly missing: LastingKeys;

  constructor(
    private readonly sql: Sql,
    missingLockMs: number,
  ) {
    this.missing = new LastingKeys(missingLockMs);
  }

  /** Returns the owners whose lock was missing at every call for `missingLockMs`. */
  async find(): Promise<readonly string[]> {
    const missing = await this.sql.query<{ owner: string }>(ownersWithoutLock);
    return this.missing.of(missing.map(({ owner }) => owner));
  }
}
