import { isDead } from '../database/liveness-lock';
import type { Sql } from '../database/sql';

const ownersWithoutLock = `select owner from presences where ${isDead}`;

/** Finds dead lease owners. One missing lock is no proof: a live process whose connection broke locks again in a moment. */
export class DeadHolders {
  private missingSince: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly sql: Sql,
    private readonly missingLockMs: number,
  ) {}

  /** Returns the owners whose lock was missing at every call for `missingLockMs`. */
  async find(): Promise<readonly string[]> {
    const missing = await this.sql.query<{ owner: string }>(ownersWithoutLock);
    const nowMs = performance.now();
    this.missingSince = new Map(missing.map(({ owner }) => [owner, this.missingSince.get(owner) ?? nowMs]));
    return [...this.missingSince].filter(([, since]) => nowMs - since >= this.missingLockMs).map(([owner]) => owner);
  }
}
