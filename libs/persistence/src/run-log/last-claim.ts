import { type CallId, type RunId, toolCall } from '@rondo/contract';
import type { KnownCall, LastClaim, RunQueueName } from '@rondo/domain';
import { type RunJson, runOf } from './run-row';
import type { Sql } from '../database/sql';
import { claimedBy } from './claim';

/** The ledger without what models and tools wrote. A call whose outcome is in doubt has no end yet. */
const openCalls = `
select coalesce(json_agg(call order by index), '[]')
from (
  select id, run_id, iteration, index, name, '{}'::json as arguments, dialect, effect_class, status, null as result,
    attempt, message_id, null as started_at, null as finished_at
  from tool_calls
  where run_id = taken.id
    and (status in ('planned', 'dispatched') or (status = 'unknown' and tool_calls.finished_at is null))
) as call`;

const take = `
with taken as (
  update runs set ${claimedBy('$2', '$3')}
  where id = $1 and queue = $4 and holds_thread is true and waiting is null
    and (lease_expires_at is null or lease_expires_at < clock_timestamp())
  returning runs.*
)
select row_to_json(taken) as run, (${openCalls}) as calls from taken`;

interface LastOrder {
  readonly id: RunId;
  readonly owner: string;
  readonly leaseMs: number;
  readonly queue: RunQueueName;
}

export async function claimToEnd(sql: Sql, { id, owner, leaseMs, queue }: LastOrder): Promise<LastClaim | undefined> {
  const [taken] = await sql.query<{ run: RunJson; calls: unknown[] }>(take, [id, owner, leaseMs, queue]);
  if (!taken) return undefined;

  const run = runOf(taken.run);
  const { stop_requested_at: requestedAt } = run;
  return {
    runId: run.id,
    threadId: run.thread_id,
    epoch: run.epoch,
    run,
    calls: new Map(taken.calls.map(knownCall)),
    stop: requestedAt === null ? undefined : { requestedAt, reason: taken.run.stop_reason },
    fruitlessClaims: taken.run.fruitless_claims - 1,
  };
}

function knownCall(row: unknown): [CallId, KnownCall] {
  const call = toolCall.parse(row);
  const { id, status, attempt } = call;
  return [id, { call, status, store: null, attempts: attempt, isUndecided: status === 'unknown' }];
}
