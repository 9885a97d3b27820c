import { type CallId, type RunId, toolCall } from '@rondo/contract';
import type { KnownCall, LastClaim, RunQueueName } from '@rondo/domain';
import { type RunJson, runOf } from './run-row';
import type { Sql } from '../database/sql';
import { claimedBy } from './claim-runs';

/** Open calls of the ledger without arguments and results. A call of unknown outcome is open until it is finished. */
const openCalls = `
select coalesce(json_agg(call order by index), '[]')
from (
  select id, run_id, iteration, index, name, '{}'::json as arguments, dialect, effect_class, status, null as result,
    attempt, message_id, null as started_at, null as finished_at
  from tool_calls
  where run_id = claimed.id
    and (status in ('planned', 'dispatched') or (status = 'unknown' and tool_calls.finished_at is null))
) as call`;

const claimWithoutHistory = `
with claimed as (
  update runs set ${claimedBy('$2', '$3')}
  where id = $1 and queue = $4 and holds_thread is true and waiting is null
    and (lease_expires_at is null or lease_expires_at < clock_timestamp())
  returning runs.*
)
select row_to_json(claimed) as run, (${openCalls}) as calls from claimed`;

interface LastOrder {
  readonly id: RunId;
  readonly owner: string;
  readonly leaseMs: number;
  readonly queue: RunQueueName;
}

export async function claimToEnd(sql: Sql, { id, owner, leaseMs, queue }: LastOrder): Promise<LastClaim | undefined> {
  const [row] = await sql.query<{ run: RunJson; calls: unknown[] }>(claimWithoutHistory, [id, owner, leaseMs, queue]);
  if (!row) return undefined;

  const run = runOf(row.run);
  const { stop_requested_at: requestedAt } = run;
  return {
    runId: run.id,
    threadId: run.thread_id,
    epoch: run.epoch,
    run,
    calls: new Map(row.calls.map(knownCall)),
    stop: requestedAt === null ? undefined : { requestedAt, reason: row.run.stop_reason },
    fruitlessClaims: row.run.fruitless_claims - 1,
  };
}

function knownCall(row: unknown): [CallId, KnownCall] {
  const call = toolCall.parse(row);
  const { id, status, attempt } = call;
  return [id, { call, status, store: null, attempts: attempt, isUndecided: status === 'unknown' }];
}
