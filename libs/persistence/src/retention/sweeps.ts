import type { Database } from '../database/database';
import type { Sql } from '../database/sql';
import { z } from 'zod';
import { createQuery } from '../database/checked-query';

const pageSize = 1_000;

interface BlobKey {
  readonly account_id: string;
  readonly sha256: string;
}

const nextBlobs = createQuery(
  z.object({ account_id: z.string(), sha256: z.string(), unreferenced: z.boolean() }),
  `
select account_id, sha256, created_at < clock_timestamp() - interval '1 day' and not exists (
  select from blob_refs where blob_refs.account_id = blobs.account_id and blob_refs.sha256 = blobs.sha256
) as unreferenced
from blobs where (account_id, sha256) > ($1, $2) order by account_id, sha256 limit ${pageSize}`,
);

/** Adds references that are missing because a service of the previous version wrote the messages. */
const showing = `
insert into blob_refs (thread_id, account_id, sha256)
select distinct thread_id, $1, $2 from messages join threads on threads.id = thread_id
where threads.account_id = $1 and position($2 in content::text) > 0
on conflict do nothing returning thread_id`;

const deleteUnreferenced = `
delete from blobs where account_id = $1 and sha256 = $2
  and not exists (select from blob_refs where account_id = $1 and sha256 = $2)`;

/** Deletes unreferenced images. Each call checks the next page of all images. */
export class BlobSweep {
  private after: BlobKey = { account_id: '', sha256: '' };

  constructor(private readonly database: Database) {}

  /** Returns how many it has deleted. */
  async sweep(): Promise<number> {
    const { sql } = this.database;
    const { account_id, sha256 } = this.after;
    const blobs = await nextBlobs.all(sql, [account_id, sha256]);
    const last = blobs.length === pageSize ? blobs.at(-1) : undefined;
    this.after = last ?? { account_id: '', sha256: '' };

    let deleted = 0;
    for (const blob of blobs) if (blob.unreferenced && (await sweepOne(sql, blob))) deleted += 1;
    return deleted;
  }
}

async function sweepOne(sql: Sql, { account_id, sha256 }: BlobKey): Promise<boolean> {
  const shown = await sql.query(showing, [account_id, sha256]);
  if (shown.length > 0) return false;
  await sql.query(deleteUnreferenced, [account_id, sha256]);
  return true;
}

/** The most files that one statement deletes, since a file can be long. */
const most = 20;

const deleteExpired = `
delete from files where id in (
  select id from files where created_at < clock_timestamp() - interval '1 day'
    and not exists (select from run_files where run_files.file_id = files.id)
  order by created_at limit ${most}
) returning id`;

/** Deletes uploads that no run refers to a day after they began, also those that never ended. */
export class FileSweep {
  constructor(private readonly database: Database) {}

  /** Returns how many it has deleted. */
  async sweep(): Promise<number> {
    for (let deleted = 0; ; deleted += most) {
      const { length } = await this.database.sql.query(deleteExpired);
      if (length < most) return deleted + length;
    }
  }
}

/** Workers note the use of a set at most hourly, so a set that a run is about to start with is never this old. */
const minDays = 1;

const deleteUnused = `
delete from tool_sets
where last_used_at < clock_timestamp() - $1::float * interval '1 day'
  and not exists (select from runs where runs.finished_at is null and runs.tool_set = tool_sets.hash)
returning hash`;

/**
 * Deletes tool sets with which no run has started for as many days as facts are kept, and which no unfinished run needs.
 * Deletes nothing if `days` is undefined.
 */
export class ToolSetSweep {
  constructor(
    private readonly database: Database,
    private readonly days: number | undefined,
  ) {}

  /** Returns how many it has deleted. Processes may call it concurrently. */
  async sweep(): Promise<number> {
    if (this.days === undefined) return 0;
    return (await this.database.sql.query(deleteUnused, [Math.max(this.days, minDays)])).length;
  }
}
