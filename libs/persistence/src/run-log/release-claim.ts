import type { Claim } from '@rondo/domain';
import type { Sql } from '../database/sql';
import { activated, dueAgain, outboxOf } from './activation';

/** Changes nothing when the run has ended or was claimed by another worker: then its epoch differs or it has no lease. */
const releaseClaim = `
with activated as (
  update runs set
    fruitless_claims = case when $3 then fruitless_claims else greatest(fruitless_claims - 1, 0) end,
    due_since = clock_timestamp(),
    ${dueAgain}
  where id = $1 and epoch = $2 and lease_owner is not null
  returning ${activated}
)
${outboxOf('activated')}`;

export async function handOver(sql: Sql, { runId, epoch }: Claim, { broke }: { broke: boolean }): Promise<void> {
  await sql.query(releaseClaim, [runId, epoch, broke]);
}
