import type { RunId } from '@rondo/contract';
import type { RunQueueName } from '@rondo/domain';
import type { Sql } from '../database/sql';

/** Expired leases are left to the reaper: after an outage all leases have expired though their owners are alive. */
const isDue = `holds_thread and waiting is null and queue = $1 and lease_owner is null`;

const countDue = `select count(*)::int as due from runs where ${isDue}`;

const dueInQueue = `
select id from runs
where ${isDue}
  and activated_at < clock_timestamp() - $2::int * interval '1 ms'
order by activated_at limit $3`;

export async function dueRuns(
  sql: Sql,
  { queue, sinceMs, limit }: { queue: RunQueueName; sinceMs: number; limit: number },
): Promise<readonly RunId[]> {
  const rows = await sql.query<{ id: RunId }>(dueInQueue, [queue, sinceMs, limit]);
  return rows.map(({ id }) => id);
}

export async function countDueRuns(sql: Sql, queue: RunQueueName): Promise<number> {
  const [row] = await sql.query<{ due: number }>(countDue, [queue]);
  return row?.due ?? 0;
}
