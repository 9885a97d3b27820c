import { isDead } from '../database/liveness-lock';
import type { Sql } from '../database/sql';

const absentOwners = `select owner from presences where ${isDead}`;

/** Finds holders that are dead. It takes more than one look: a living one whose connection broke is back in a moment. */
export class DeadHolders {
  private absentSince: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly sql: Sql,
    private readonly absentMs: number,
  ) {}

  /** Who was absent at each look for so long. */
  async find(): Promise<readonly string[]> {
    const absent = await this.sql.query<{ owner: string }>(absentOwners);
    const nowMs = performance.now();
    this.absentSince = new Map(absent.map(({ owner }) => [owner, this.absentSince.get(owner) ?? nowMs]));
    return [...this.absentSince].filter(([, since]) => nowMs - since >= this.absentMs).map(([owner]) => owner);
  }
}
