import type { Database } from '../database/database';
import type { Sql } from '../database/sql';
import { z } from 'zod';
import { checked } from '../database/checked-query';

const pageSize = 1_000;

interface BlobKey {
  readonly account_id: string;
  readonly sha256: string;
}

const nextBlobs = checked(
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
