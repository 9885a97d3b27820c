import type { ClaimedRun, RunId, RunQueueName } from '@rondo/domain';
import { type MessageRow, messageOf } from '../message-row';
import { type FactRow, type JsonRow, type RunJson, factOfJson, runOf } from '../run-row';
import type { Sql } from '../sql';

const logOfRun = (run: string) => `
select coalesce(json_agg(fact order by seq), '[]') as facts
from (
  select id, seq, type, run_id, ${run}.thread_id, iteration, epoch, at, data from run_events where run_id = ${run}.id
) as fact`;

const earlierMessages = (run: string) => `
select coalesce(json_agg(message order by seq), '[]') as earlier
from messages as message
where thread_id = ${run}.thread_id and is_llm_message and run_id is distinct from ${run}.id`;

/** Takes the run, if it is due and nobody's lease on it is good, by the database's clock (R1). */
const takeRun = `
with taken as (
  update runs set
    epoch = epoch + 1,
    fruitless_claims = fruitless_claims + 1,
    status = case when stop_requested_at is null then 'running' else 'stopping' end,
    lease_owner = $2,
    lease_expires_at = clock_timestamp() + $3::int * interval '1 ms'
  where id = $1 and queue = $4 and holds_thread and status in ('queued', 'running', 'stopping')
    and (lease_expires_at is null or lease_expires_at < clock_timestamp())
  returning *
)
select row_to_json(taken) as run, log.facts, thread.earlier
from taken
cross join lateral (${logOfRun('taken')}) as log
cross join lateral (${earlierMessages('taken')}) as thread`;

const readAgain = `
select log.facts, thread.earlier
from runs
cross join lateral (${logOfRun('runs')}) as log
cross join lateral (${earlierMessages('runs')}) as thread
where runs.id = $1`;

export interface ClaimOrder {
  readonly id: RunId;
  readonly owner: string;
  readonly leaseMs: number;
  readonly queue: RunQueueName;
}

interface Taken extends Past {
  readonly run: RunJson;
}

interface Past {
  readonly facts: readonly JsonRow<FactRow, 'at'>[];
  readonly earlier: readonly JsonRow<MessageRow, 'created_at'>[];
}

export async function claimRun(sql: Sql, { id, owner, leaseMs, queue }: ClaimOrder): Promise<ClaimedRun | undefined> {
  const [row] = await sql.query<Taken>(takeRun, [id, owner, leaseMs, queue]);
  if (!row) return undefined;

  const { facts, earlier } = isWhole(row) ? row : await readPast(sql, row.run);
  const run = runOf(row.run);
  return {
    runId: run.id,
    threadId: run.thread_id,
    epoch: run.epoch,
    run,
    log: facts.map(factOfJson),
    earlier: earlier.map((message) => messageOf({ ...message, created_at: new Date(message.created_at) })),
    stop:
      run.stop_requested_at === null ? undefined : { requestedAt: run.stop_requested_at, reason: row.run.stop_reason },
    fruitlessClaims: row.run.fruitless_claims - 1,
  };
}

/** A statement that waited for another writer has the run as that one left it, but its log as it was before. */
const isWhole = ({ run, facts }: Taken): boolean => (facts.at(-1)?.seq ?? 0) === run.last_seq;

async function readPast(sql: Sql, { id }: RunJson): Promise<Past> {
  const [past] = await sql.query<Past>(readAgain, [id]);
  return past ?? { facts: [], earlier: [] };
}
