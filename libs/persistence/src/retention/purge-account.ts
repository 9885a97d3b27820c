import { type AccountId, accountId } from '@rondo/contract';
import type { Sql } from '../database/sql';
import { z } from 'zod';
import { createQuery } from '../database/checked-query';

const nextAccount = createQuery(
  z.object({ id: accountId }),
  `select id from accounts where removed_at is not null order by removed_at, id`,
);

export const listRemovedAccounts = async (sql: Sql): Promise<readonly AccountId[]> =>
  (await nextAccount.all(sql)).map(({ id }) => id);

const idleThreads = `
with hidden as (
  update threads set deleted_at = clock_timestamp() where id in (
    select id from threads where account_id = $1 and deleted_at is null
      and not exists (select from runs where thread_id = threads.id and finished_at is null)
      and not (is_workspace and exists (select from runs where account_id = $1 and finished_at is null))
    limit 500
  ) returning id
),
vacated as (update sandboxes set vacate_at = clock_timestamp() from hidden where thread_id = hidden.id)
select id from hidden`;

const anyThread = `select id from threads where account_id = $1 limit 1`;

const someResponses = `
delete from idempotency_keys where account_id = $1 and key in (
  select key from idempotency_keys where account_id = $1 limit 5000
) returning key`;

const someBlobs = `
delete from blobs where account_id = $1 and sha256 in (
  select sha256 from blobs where account_id = $1 limit 100
) returning sha256`;

const someFiles = `
delete from files where account_id = $1 and id in (select id from files where account_id = $1 limit 20) returning id`;

/** A skill has many versions with many files. */
const someSkills = `
delete from skills where account_id = $1 and id in (select id from skills where account_id = $1 limit 1) returning id`;

/** A memory store has many entries with many versions. */
const someMemory = `
delete from memory_stores where account_id = $1 and id in (select id from memory_stores where account_id = $1 limit 1)
returning id`;

const someUsage = `
delete from usage_entries where account_id = $1 and model_call_id in (
  select model_call_id from usage_entries where account_id = $1 limit 20000
) returning model_call_id`;

const someDeliveries = `
delete from webhook_deliveries where account_id = $1 and id in (
  select id from webhook_deliveries where account_id = $1 limit 5000
) returning id`;

/** Deletes its keys too, by cascade. */
const theAccount = `delete from accounts where id = $1`;

/**
 * Deletes some rows of a removed account. Threads are only hidden here, and purged like all deleted threads. Returns false
 * while it has to wait for runs to stop or threads to be purged.
 */
export async function purgeAccount(sql: Sql, accountId: AccountId): Promise<boolean> {
  const about = [accountId];
  if ((await sql.query(idleThreads, about)).length > 0) return true;
  if ((await sql.query(anyThread, about)).length > 0) return false;
  for (const some of [someResponses, someBlobs, someFiles, someSkills, someMemory, someUsage, someDeliveries])
    if ((await sql.query(some, about)).length > 0) return true;
  await sql.query(theAccount, about);
  return true;
}
