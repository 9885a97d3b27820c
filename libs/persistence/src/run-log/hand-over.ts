import type { Claim } from '@rondo/domain';
import type { Sql } from '../database/sql';
import { activated, dueAgain, outboxOf } from './activation';

/** A run that ended or was taken meanwhile has another epoch or no lease: then there is nothing to hand over. */
const giveBack = `
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
  await sql.query(giveBack, [runId, epoch, broke]);
}
