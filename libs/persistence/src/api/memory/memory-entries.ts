import {
  type AccountId,
  type MemoryEntry,
  type MemoryMatch,
  type MemoryStoreId,
  type MemoryVersion,
  type MemoryWriter,
  accountId,
  memoryLimits,
  memoryPath,
  memoryWriter,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { type Page, type PageRequest, invalidCursor, readVersionCursor, toKeyedPage, toVersionPage } from '../page';
import { type MemoryStoreAddress, memoryStoreNotFound } from './memory-stores';

export interface MemoryEntryAddress extends MemoryStoreAddress {
  readonly path: string;
}

interface Known {
  /** 0: there is none. Undefined: whatever is there. */
  readonly ifVersion?: number | undefined;
}

interface NewMemoryVersion extends MemoryEntryAddress, Known {
  readonly content: string;
  readonly writer: MemoryWriter;
}

/** All stores of an account. */
const accountBytes = 256 * 1024 * 1024;

const versionRow = memoryWriter.extend({
  path: z.string(),
  version: z.number(),
  size: z.number(),
  created_at: z.date(),
});
type VersionRow = z.infer<typeof versionRow>;
const entryRow = versionRow.extend({ content: z.string() });
const matchRow = versionRow.extend({ excerpt: z.string() });

const columns = `each.path, each.version, each.size, each.caller_id, each.run_id, each.call_id as tool_call_id, each.seq,
  each.created_at`;
const versions = `from memory_versions as each where each.store_id = $1`;
const newest = `
from memory_entries join memory_versions as each using (store_id, version) where memory_entries.store_id = $1`;

const ownStore = createQuery(
  z.object({ account_id: accountId }),
  `select account_id from memory_stores where account_id = $1 and id = $2`,
);
const lockedStore = createQuery(
  z.object({ version: z.number(), size: z.number() }),
  `select version, size from memory_stores where account_id = $1 and id = $2 for update`,
);
const newestEntry = createQuery(entryRow, `select ${columns}, each.content ${newest} and memory_entries.path = $2`);
const oneVersion = createQuery(
  entryRow,
  `select ${columns}, each.content ${versions} and each.path = $2 and each.version = $3`,
);
const ofCall = createQuery(entryRow, `select ${columns}, each.content ${versions} and each.call_id = $2`);
const entriesByPath = createQuery(
  versionRow,
  `
select ${columns} ${newest} and starts_with(each.path, $2) and ($3::text is null or each.path > $3 collate "C")
order by each.path collate "C" limit $4`,
);
const newestVersions = createQuery(
  versionRow,
  `select ${columns} ${versions} and each.path = $2 and each.version < $3 order by each.version desc limit $4`,
);
const found = createQuery(
  matchRow,
  `
select ${columns}, ts_headline('simple', each.content, wanted,
  'StartSel="", StopSel="", MaxFragments=2, MaxWords=20, MinWords=8, ShortWord=0') as excerpt
from (
  select store_id, version, wanted, ts_rank(words, wanted) as rank
  from memory_entries, websearch_to_tsquery('simple', $2) as wanted
  where store_id = $1 and words @@ wanted order by rank desc, path collate "C" limit $3
) as best join memory_versions as each using (store_id, version)
order by rank desc, each.path collate "C"`,
);

/** Entries of other stores of the account are counted one after the other. Workers write some, who may not lock its row. */
const takeTurn = `select pg_advisory_xact_lock(hashtextextended('memory ' || $1::text, 0))`;

const useOfStore = createQuery(
  z.object({ entries: z.number(), account_bytes: z.number() }),
  `
select (select count(*) from memory_entries where store_id = $2)::int as entries,
  (select sum(size) from memory_stores where account_id = $1)::float8 as account_bytes`,
);
const upsertEntry = `
insert into memory_entries (store_id, path, version, words)
values ($1, $2, $3, to_tsvector('simple', translate($2, '/._-', '    ') || ' ' || $4))
on conflict (store_id, path) do update set version = excluded.version, words = excluded.words`;
const insertVersion = `
insert into memory_versions (store_id, path, version, content, size, caller_id, run_id, call_id, seq)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;
const deleteOldVersions = `
delete from memory_versions where store_id = $1 and version in (
  select version from memory_versions where store_id = $1 and path = $2 order by version desc offset ${memoryLimits.versions}
)`;
const deleteEntry = `delete from memory_entries where store_id = $1 and path = $2`;
/** After each change, in its transaction. */
const countStore = `
update memory_stores set version = $2, updated_at = clock_timestamp(),
  size = (select coalesce(sum(size), 0) from memory_versions where store_id = $1)
where id = $1`;

/**
 * What is in the stores of one account each. The row of a store is locked by each change, so that versions grow one after the
 * other and its limits hold. Every method rejects with `memory_store_not_found`.
 */
export class MemoryEntries {
  constructor(private readonly database: Database) {}

  /**
   * Resolves to the entry as it is then: the same content makes no other version, and neither does a call of a run that has
   * written before. Rejects with `memory_entry_changed` and `memory_quota_exceeded`.
   */
  write({ path, content, writer, ifVersion, ...store }: NewMemoryVersion): Promise<MemoryEntry> {
    return this.database.transaction(async (sql) => {
      const locked = await lockStore(sql, store);
      const id = store.memoryStoreId;
      const written = writer.tool_call_id && (await ofCall.first(sql, [id, writer.tool_call_id]));
      if (written) return toEntry(written);
      const known = await newestEntry.first(sql, [id, path]);
      requireVersion(path, known, ifVersion);
      if (known?.content === content) return toEntry(known);
      const size = Buffer.byteLength(content);
      await requirePlace(sql, store, { size, storeBytes: locked.size, isNew: known === undefined });
      const version = locked.version + 1;
      await sql.query(upsertEntry, [id, path, version, content]);
      const { caller_id: caller, run_id: run, tool_call_id: call, seq } = writer;
      await sql.query(insertVersion, [id, path, version, content, size, caller, run, call, seq]);
      await sql.query(deleteOldVersions, [id, path]);
      await sql.query(countStore, [id, version]);
      return this.readFrom(sql, { ...store, path });
    });
  }

  /** With all of its versions, so that nothing of it is left. Rejects with `memory_entry_not_found` and `memory_entry_changed`. */
  delete({ path, ifVersion, ...store }: MemoryEntryAddress & Known): Promise<void> {
    return this.database.transaction(async (sql) => {
      const { version } = await lockStore(sql, store);
      const known = await this.readFrom(sql, { ...store, path });
      requireVersion(path, known, ifVersion);
      await sql.query(deleteEntry, [store.memoryStoreId, path]);
      await sql.query(countStore, [store.memoryStoreId, version]);
    });
  }

  /** The newest version, or this one. Rejects with `memory_entry_not_found`, too. */
  async read(address: MemoryEntryAddress & { readonly version?: number | undefined }): Promise<MemoryEntry> {
    await this.requireStore(address);
    return this.readFrom(this.database.sql, address);
  }

  /** By their paths. */
  async list({
    prefix = '',
    after,
    limit,
    ...store
  }: MemoryStoreAddress & PageRequest & { readonly prefix?: string | undefined }): Promise<Page<MemoryVersion>> {
    await this.requireStore(store);
    const values = [store.memoryStoreId, prefix, after === undefined ? null : readPathCursor(after), limit + 1];
    const rows = await entriesByPath.all(this.database.sql, values);
    return toKeyedPage(rows.map(toVersion), limit, ({ path }) => path);
  }

  /** Newest first. Rejects with `memory_entry_not_found`, too. */
  async listVersions({ path, after, limit, ...store }: MemoryEntryAddress & PageRequest): Promise<Page<MemoryVersion>> {
    await this.read({ ...store, path });
    const values = [store.memoryStoreId, path, readVersionCursor(after), limit + 1];
    return toVersionPage((await newestVersions.all(this.database.sql, values)).map(toVersion), limit);
  }

  /** Entries that have the words, the best first. */
  async search({
    query,
    limit,
    ...store
  }: MemoryStoreAddress & { readonly query: string; readonly limit: number }): Promise<readonly MemoryMatch[]> {
    await this.requireStore(store);
    const rows = await found.all(this.database.sql, [store.memoryStoreId, query, limit]);
    return rows.map((row) => ({ ...toVersion(row), excerpt: row.excerpt }));
  }

  private async requireStore({ accountId: account, memoryStoreId: id }: MemoryStoreAddress): Promise<void> {
    if (!(await ownStore.first(this.database.sql, [account, id]))) throw memoryStoreNotFound(id);
  }

  private async readFrom(
    sql: Sql,
    { memoryStoreId: id, path, version }: MemoryEntryAddress & { readonly version?: number | undefined },
  ): Promise<MemoryEntry> {
    const row = await (version === undefined
      ? newestEntry.first(sql, [id, path])
      : oneVersion.first(sql, [id, path, version]));
    if (row) return toEntry(row);
    const what = version === undefined ? '' : ` with version ${version}`;
    throw new TerminalError('memory_entry_not_found', `There is no entry ${path}${what}.`);
  }
}

async function lockStore(sql: Sql, { accountId: account, memoryStoreId: id }: MemoryStoreAddress) {
  const locked = await lockedStore.first(sql, [account, id]);
  if (!locked) throw memoryStoreNotFound(id);
  return locked;
}

function requireVersion(path: string, known: { readonly version: number } | undefined, ifVersion?: number): void {
  const version = known?.version ?? 0;
  if (ifVersion === undefined || ifVersion === version) return;
  const now = version === 0 ? 'does not exist now' : `has version ${version} now`;
  throw new TerminalError('memory_entry_changed', `${path} ${now}, not version ${ifVersion}.`);
}

interface Place {
  readonly size: number;
  readonly storeBytes: number;
  readonly isNew: boolean;
}

async function requirePlace(
  sql: Sql,
  { accountId: account, memoryStoreId: id }: { readonly accountId: AccountId; readonly memoryStoreId: MemoryStoreId },
  { size, storeBytes, isNew }: Place,
): Promise<void> {
  await sql.query(takeTurn, [account]);
  const use = await useOfStore.first(sql, [account, id]);
  if (!use) return;
  const { entries, storeBytes: mostBytes } = memoryLimits;
  if (isNew && use.entries >= entries) throw quotaExceeded(`A memory store may have ${entries} entries.`);
  if (storeBytes + size > mostBytes)
    throw quotaExceeded(`A memory store can have ${mostBytes} bytes, with all versions of its entries.`);
  if (use.account_bytes + size > accountBytes)
    throw quotaExceeded(`The memory stores of an account can have ${accountBytes} bytes together.`);
}

const quotaExceeded = (detail: string): TerminalError => new TerminalError('memory_quota_exceeded', detail);

/** Throws `invalid_cursor` for anything that is no path. */
function readPathCursor(cursor: string): string {
  const path = Buffer.from(cursor, 'base64url').toString();
  if (!memoryPath.safeParse(path).success) throw invalidCursor();
  return path;
}

const toVersion = ({ path, version, size, created_at, ...row }: VersionRow): MemoryVersion => ({
  ...{ path, version, size, created_at: created_at.toISOString() },
  written_by: { caller_id: row.caller_id, run_id: row.run_id, tool_call_id: row.tool_call_id, seq: row.seq },
});

const toEntry = (row: z.infer<typeof entryRow>): MemoryEntry => ({ ...toVersion(row), content: row.content });
