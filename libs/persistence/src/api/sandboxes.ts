import type { NewId, ThreadId } from '@rondo/contract';
import type { Database } from '../database/database';
import type { Sql } from '../database/sql';
import { StatementBatcher } from '../database/statement-batcher';

interface Place {
  readonly thread_id: string;
  readonly executor_id: string;
}

/** Whose sandbox, and which executor hosts it. */
export interface HostedSandbox {
  readonly threadId: ThreadId;
  readonly executorId: string;
}

/** Answers with the places that stay, which may be other ones: the update changes nothing and returns the row. */
const upsertHosts = `
insert into sandboxes (id, thread_id, executor_id)
select distinct on (thread_id) *
from unnest($1::text[], $2::text[], $3::text[]) as offer (id, thread_id, executor_id) order by thread_id
on conflict (thread_id) do update set thread_id = excluded.thread_id
returning thread_id, executor_id`;

/** A minute later it is asked for again: its executor may be away. */
const lockDeleted = `
update sandboxes set vacate_at = clock_timestamp() + interval '1 minute'
where id in (
  select id from sandboxes where vacate_at <= clock_timestamp() order by vacate_at limit 100 for update skip locked
)
returning thread_id as "threadId", executor_id as "executorId"`;

const deleteRemoved = `delete from sandboxes where thread_id = any($1::text[]) and vacate_at is not null`;

/** Which executor hosts which thread's sandbox. A claim says what is known of its thread. */
export class Sandboxes {
  private readonly kept: StatementBatcher<HostedSandbox, string>;

  constructor(
    private readonly database: Database,
    newId: NewId,
  ) {
    this.kept = new StatementBatcher((offers) => keep(database.sql, newId, offers));
  }

  /** Has this executor host the thread, unless one does already; answers with who hosts it. */
  keep(threadId: ThreadId, executorId: string): Promise<string> {
    return this.kept.of({ threadId, executorId });
  }

  /** Some whose threads were deleted, for the caller to have removed and then to `forget`. */
  claimDeleted(): Promise<readonly HostedSandbox[]> {
    return this.database.sql.query<HostedSandbox>(lockDeleted);
  }

  async forget(threads: readonly ThreadId[]): Promise<void> {
    if (threads.length > 0) await this.database.sql.query(deleteRemoved, [threads]);
  }
}

async function keep(sql: Sql, newId: NewId, offers: readonly HostedSandbox[]): Promise<readonly string[]> {
  const columns = [
    offers.map(() => `sbx_${newId()}`),
    offers.map(({ threadId }) => threadId),
    offers.map(({ executorId }) => executorId),
  ];
  const places = await sql.query<Place>(upsertHosts, columns);
  const kept = new Map(places.map(({ thread_id, executor_id }) => [thread_id, executor_id]));
  return offers.map(({ threadId, executorId }) => kept.get(threadId) ?? executorId);
}
