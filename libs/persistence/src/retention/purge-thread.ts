import { deleteEndedRuns } from '../api/billing/run-minutes';
import type { Sql } from '../database/sql';
import { z } from 'zod';
import { createQuery } from '../database/checked-query';
import { readableJson } from '../database/stored-text';

/** Bounds one step, which is one transaction. A step ends at the first table in which it reaches its bound. */
const most = { messages: 500, runs: 20, events: 2_000, calls: 1_000 };

const deletedThread = z.object({
  id: z.string(),
  account_id: z.string(),
});
type DeletedThread = z.infer<typeof deletedThread>;

/** Concurrent workers lock different threads. */
const nextThread = createQuery(
  deletedThread,
  `
select id, account_id from threads where deleted_at is not null and purged_at is null and id <> all($1::text[])
order by deleted_at limit 1 for update skip locked`,
);

const someMessages = createQuery(
  z.object({ id: z.string() }),
  `
delete from messages where thread_id = $1 and seq in (
  select seq from messages where thread_id = $1 order by seq limit ${most.messages}
) returning id`,
);

const someRuns = createQuery(
  z.object({ id: z.string() }),
  `select id from runs where thread_id = $1 order by id limit ${most.runs}`,
);

const someEvents = `
delete from run_events where (run_id, seq) in (
  select run_id, seq from run_events where run_id = any($1::text[]) limit ${most.events}
) returning seq`;

const someCalls = `
delete from tool_calls where id in (
  select id from tool_calls where run_id = any($1::text[]) limit ${most.calls}
) returning id`;

/**
 * Stored responses of idempotent requests hold content of the thread and its runs. They name it, a run or a message of it
 * somewhere: the ids of façades, and those of calls, have the letters and digits of one of these.
 */
const answersNaming = `
delete from idempotency_keys where account_id = $1 and exists (
  select from regexp_matches(response::text, '_([0-9A-Z]{26})', 'g') as found(id) where id[1] = any($2::text[])
)`;

async function deleteAnswers(sql: Sql, account: string, ids: readonly string[]): Promise<void> {
  const named = ids.map((id) => /_([0-9A-Z]{26})/.exec(id)?.[1] ?? id);
  if (named.length > 0) await sql.query(answersNaming, [account, named]);
}

/** What clients of façades call the thread and its runs. */
const outerIds = createQuery(
  z.object({ id: z.string() }),
  `select outer_id as id from facade_ids where thread_id = $1 and kind in ('chat', 'run')`,
);

const answersAbout = `
delete from idempotency_keys where account_id = $1 and exists (
  select from (select ${readableJson('response')} as shown offset 0) as answer
  where shown ->> 'id' = any($2::text[]) or shown ->> 'thread_id' = any($2::text[]) or shown ->> 'run_id' = any($2::text[])
    or shown -> 'meta' ->> 'thread_id' = any($2::text[])
)`;

/** Webhooks hold the facts that they tell. Of what is not delivered yet, usage stays: it has no content, and may be billed elsewhere. */
const webhooksAbout = `
delete from webhook_deliveries where run_id = any($1::text[]) and (status <> 'pending' or type <> 'usage.recorded')`;

const purgeFacadeIds = `delete from facade_ids where thread_id = $1`;
const deleteJobs = `delete from outbox where payload ->> 'thread_id' = $1`;

/** Deletes images that no other thread of the account refers to. */
const deleteImages = `
with deleted as (delete from blob_refs where thread_id = $1 returning account_id, sha256)
delete from blobs using deleted
where blobs.account_id = deleted.account_id and blobs.sha256 = deleted.sha256 and not exists (
  select from blob_refs as other
  where other.account_id = deleted.account_id and other.sha256 = deleted.sha256 and other.thread_id <> $1
)`;

/** Deletes files that only these runs got. */
const deleteFiles = createQuery(
  z.object({ id: z.string() }),
  `
delete from files where id in (select file_id from run_files where run_id = any($1::text[])) and not exists (
  select from run_files where run_files.file_id = files.id and run_id <> all($1::text[])
) returning id`,
);

const done = `update threads set purged_at = clock_timestamp(), metadata = '{}', title = null, end_user = null where id = $1`;

interface Choice {
  readonly without: readonly string[];
  /** Called with the thread that is chosen. */
  readonly chosen: (thread: string) => void;
}
const anyThread: Choice = { without: [], chosen: () => undefined };

/**
 * Deletes some rows of a deleted thread; false when no thread is left to purge. Each step is one transaction that starts
 * from the remaining rows, so a crash costs at most one step. Usage entries stay: they are the account's bill and hold no
 * content.
 */
export async function purgeThreads(sql: Sql, { without, chosen }: Choice = anyThread): Promise<boolean> {
  const thread = await nextThread.first(sql, [without]);
  if (!thread) return false;
  chosen(thread.id);
  const messages = (await someMessages.all(sql, [thread.id])).map(({ id }) => id);
  await deleteAnswers(sql, thread.account_id, messages);
  if (messages.length === most.messages) return true;
  if (await purgeRuns(sql, thread)) return true;

  await deleteAnswers(sql, thread.account_id, [thread.id]);
  const outer = (await outerIds.all(sql, [thread.id])).map(({ id }) => id);
  if (outer.length > 0) await sql.query(answersAbout, [thread.account_id, outer]);
  await sql.query(deleteJobs, [thread.id]);
  await sql.query(purgeFacadeIds, [thread.id]);
  await sql.query(deleteImages, [thread.id]);
  await sql.query(done, [thread.id]);
  return true;
}

async function purgeRuns(sql: Sql, thread: DeletedThread): Promise<boolean> {
  const runs = (await someRuns.all(sql, [thread.id])).map(({ id }) => id);
  if (runs.length === 0) return false;
  if ((await sql.query(someEvents, [runs])).length === most.events) return true;
  if ((await sql.query(someCalls, [runs])).length === most.calls) return true;
  const files = (await deleteFiles.all(sql, [runs])).map(({ id }) => id);
  await deleteAnswers(sql, thread.account_id, [...runs, ...files]);
  await sql.query(webhooksAbout, [runs]);
  await deleteEndedRuns(sql, runs);
  return true;
}

const emptyProjects = createQuery(
  deletedThread,
  `
delete from projects where id in (
  select id from projects
  where deleted_at is not null and not exists (select from threads where project_id = projects.id)
  limit 500
) returning id, account_id`,
);

/** Deletes the rows of deleted projects whose threads are forgotten. */
export async function forgetProjects(sql: Sql): Promise<boolean> {
  const gone = await emptyProjects.all(sql);
  for (const { id, account_id } of gone) await sql.query(answersAbout, [account_id, [id]]);
  return gone.length > 0;
}

const emptyThreads = `
delete from threads where id in (
  select id from threads
  where deleted_at is not null and purged_at is not null
    and not exists (select from sandboxes where sandboxes.thread_id = threads.id)
  limit 500
) returning id`;

/** Of threads that a worker began a workspace of while they were deleted. */
const vacateLate = `
update sandboxes set vacate_at = clock_timestamp() from threads
where threads.id = thread_id and deleted_at is not null and purged_at is not null and vacate_at is null`;

/** Deletes the rows of purged threads whose workspaces are deleted too. */
export async function forgetThreads(sql: Sql): Promise<boolean> {
  await sql.query(vacateLate);
  return (await sql.query(emptyThreads)).length > 0;
}
