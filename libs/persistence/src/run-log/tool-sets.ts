import { createHash } from 'node:crypto';
import { type AccountId, type ToolSetSnapshot, toolSetSnapshot } from '@rondo/contract';
import type { Database } from '../database/database';

/** A snapshot under its hash. Equal sets have equal hashes, unless they belong to different accounts. */
export interface StoredToolSet {
  readonly hash: string;
  /** The account whose removal deletes the set; null for a set that all accounts share. */
  readonly accountId: AccountId | null;
  readonly snapshot: ToolSetSnapshot;
}

export function toStoredToolSet(snapshot: ToolSetSnapshot, accountId: AccountId | null): StoredToolSet {
  const text = canonicalJson({ account_id: accountId, ...snapshot });
  return { hash: createHash('sha256').update(text).digest('hex'), accountId, snapshot };
}

/** JSON in which the order of keys does not matter. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

const keep = `
insert into tool_sets (hash, account_id, snapshot) values ($1, $2, $3::json)
on conflict (hash) do update set last_used_at = clock_timestamp()`;

const find = `select snapshot from tool_sets where hash = $1`;

/** The tool sets that runs started with. */
export class ToolSets {
  constructor(private readonly database: Database) {}

  /** Call it before a run starts with the set, and again at least every few hours: an unused set is deleted in the end. */
  async keep({ hash, accountId, snapshot }: StoredToolSet): Promise<void> {
    await this.database.sql.query(keep, [hash, accountId, JSON.stringify(snapshot)]);
  }

  async find(hash: string): Promise<ToolSetSnapshot | undefined> {
    const [row] = await this.database.sql.query<{ snapshot: unknown }>(find, [hash]);
    return row && toolSetSnapshot.parse(row.snapshot);
  }
}
