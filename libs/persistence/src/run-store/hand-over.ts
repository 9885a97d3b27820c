import type { Claim } from '@rondo/domain';
import type { Sql } from '../sql';
import { dueAgain, outboxOf } from './activation';

/** A run that ended or was taken meanwhile has another epoch or no lease: then there is nothing to hand over. */
const giveBack = `
with activated as (
  update runs set ${dueAgain}
  where id = $1 and epoch = $2 and lease_owner is not null
  returning id, activation
)
${outboxOf('activated')}`;

export async function handOver(sql: Sql, { runId, epoch }: Claim): Promise<void> {
  await sql.query(giveBack, [runId, epoch]);
}
