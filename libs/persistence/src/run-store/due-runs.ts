import type { RunId, RunQueueName } from '@rondo/domain';
import type { Sql } from '../sql';

const dueInQueue = `
select id from runs
where holds_thread and waiting is null and queue = $1
  and (lease_expires_at is null or lease_expires_at < clock_timestamp())
  and activated_at < clock_timestamp() - $2::int * interval '1 ms'
order by activated_at limit $3`;

export async function dueRuns(
  sql: Sql,
  { queue, sinceMs, limit }: { queue: RunQueueName; sinceMs: number; limit: number },
): Promise<readonly RunId[]> {
  const rows = await sql.query<{ id: RunId }>(dueInQueue, [queue, sinceMs, limit]);
  return rows.map(({ id }) => id);
}
