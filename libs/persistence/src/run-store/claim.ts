import type { ClaimedRun, RunId, RunQueueName } from '@rondo/domain';
import { type MessageRow, messageOf } from '../message-row';
import { type FactRow, type RunRow, factOf, runOf } from '../run-row';
import type { Sql } from '../sql';

/** Takes the run, if it is due and nobody's lease on it is good, by the database's clock (R1). */
const takeRun = `
update runs set
  epoch = epoch + 1,
  fruitless_claims = fruitless_claims + 1,
  status = case when stop_requested_at is null then 'running' else 'stopping' end,
  lease_owner = $2,
  lease_expires_at = clock_timestamp() + $3::int * interval '1 ms'
where id = $1 and queue = $4 and holds_thread and status in ('queued', 'running', 'stopping')
  and (lease_expires_at is null or lease_expires_at < clock_timestamp())
returning *`;

const logOfRun = `
select id, seq, type, run_id, $2 as thread_id, iteration, epoch, at, data
from run_events where run_id = $1 order by seq`;

const earlierMessages = `
select * from messages
where thread_id = $1 and is_llm_message and run_id is distinct from $2
order by seq`;

export interface ClaimOrder {
  readonly id: RunId;
  readonly owner: string;
  readonly leaseMs: number;
  readonly queue: RunQueueName;
}

export async function claimRun(sql: Sql, { id, owner, leaseMs, queue }: ClaimOrder): Promise<ClaimedRun | undefined> {
  const [row] = await sql.query<RunRow>(takeRun, [id, owner, leaseMs, queue]);
  if (!row) return undefined;

  const run = runOf(row);
  const [log, earlier] = await Promise.all([
    sql.query<FactRow>(logOfRun, [id, run.thread_id]),
    sql.query<MessageRow>(earlierMessages, [run.thread_id, id]),
  ]);
  return {
    runId: run.id,
    threadId: run.thread_id,
    epoch: run.epoch,
    run,
    log: log.map(factOf),
    earlier: earlier.map(messageOf),
    stop: run.stop_requested_at === null ? undefined : { requestedAt: run.stop_requested_at, reason: row.stop_reason },
    fruitlessClaims: row.fruitless_claims - 1,
  };
}
