import { type FactType, type RunWait, type WorkspacePreparing, runId } from '@rondo/contract';
import { type RunMoment, explainWait, unknownParts } from '@rondo/domain';
import { z } from 'zod';
import { type RunJson, toRun, toWorkspace } from '../../run-log/run-row';
import type { Sql } from '../../database/sql';
import { type RunAddress, runNotFound } from './lock-run';
import { utcText, readableJson } from '../../database/stored-text';
import { createQuery, jsonDocument } from '../../database/checked-query';

const countedRuns = 1_000;
const shownCalls = 20;

const momentRow = z.object({
  run: jsonDocument<RunJson>(),
  at: z.string(),
  holds_thread: z.boolean(),
  queue: z.enum(['runs', 'compactions']),
  due_since: z.string(),
  is_leased: z.boolean(),
  lease_expires_at: z.string().nullable(),
  is_lease_expired: z.boolean(),
  holder: runId.nullable(),
  ahead_on_thread: z.number(),
  ahead_in_queue: z.number(),
  calls: jsonDocument<RunMoment['calls']>(),
  children: jsonDocument<readonly Pick<RunMoment['childRuns'][number], 'run_id' | 'status'>[]>(),
  secrets: jsonDocument<RunMoment['secrets']>(),
  /** Of a run that is due. */
  fact_types: z.array(z.string()),
  fact_type: z.custom<FactType>((value) => typeof value === 'string'),
  fact_at: z.string(),
  delay_ms: z.string().nullable(),
  paced_by: z.string().nullable(),
  preparing: jsonDocument<WorkspacePreparing>().nullable(),
  executor_id: z.string().nullable(),
});
type MomentRow = z.infer<typeof momentRow>;

/** One statement, so that all of it is true at one moment. */
const momentOfRun = createQuery(
  momentRow,
  `
select row_to_json(runs) as run, ${utcText('statement_timestamp()')} as at,
  runs.holds_thread, runs.queue, ${utcText('runs.due_since')} as due_since,
  runs.lease_owner is not null as is_leased, ${utcText('runs.lease_expires_at')} as lease_expires_at,
  coalesce(runs.lease_expires_at < clock_timestamp(), false) as is_lease_expired,
  (select holder.id from runs as holder where holder.thread_id = runs.thread_id and holder.holds_thread) as holder,
  (select count(*)::int from (
    select from runs as earlier
    where earlier.thread_id = runs.thread_id and not earlier.holds_thread and earlier.finished_at is null
      and (not earlier.goes_first, earlier.id) < (not runs.goes_first, runs.id)
    limit ${countedRuns}
  ) as counted) as ahead_on_thread,
  (select count(*)::int from (
    select from runs as due
    where due.account_id = runs.account_id and due.holds_thread and due.waiting is null
      and due.queue = runs.queue and due.lease_owner is null and (due.due_since, due.id) < (runs.due_since, runs.id)
    limit ${countedRuns}
  ) as counted) as ahead_in_queue,
  (select coalesce(json_agg(call), '[]') from (
    select id, name, ${utcText('started_at')} as since from tool_calls
    where run_id = runs.id and status = case when runs.waiting is null then 'dispatched' else 'unknown' end
    order by iteration, index, id limit ${shownCalls}
  ) as call) as calls,
  (select coalesce(json_agg(asked), '[]') from (
    select name, host, ${utcText('requested_at')} as since from secret_approvals
    where run_id = runs.id and outcome is null and expires_at > clock_timestamp() order by id limit ${shownCalls}
  ) as asked) as secrets,
  (select coalesce(json_agg(child), '[]') from (
    select id as run_id, status from runs as child
    where runs.status = 'waiting_child' and child.parent_run_id = runs.id and child.finished_at is null
    order by id limit ${shownCalls}
  ) as child) as children,
  case when runs.lease_owner is null and runs.holds_thread and runs.waiting is null then
    array(select distinct type from run_events where run_id = runs.id)
  else '{}' end as fact_types,
  last_fact.type as fact_type, ${utcText('last_fact.at')} as fact_at, coalesce(${readableJson('last_fact.data')} -> 'retry', ${readableJson('last_fact.data')}) ->> 'delay_ms' as delay_ms,
  ${readableJson('last_fact.data')} ->> 'paced_by' as paced_by,
  case when last_fact.type = 'workspace.preparing' then last_fact.data end as preparing,
  (select executor_id from sandboxes where sandboxes.thread_id = ${toWorkspace('runs.project_id', 'runs.thread_id')}) as executor_id
from runs
join threads on threads.id = runs.thread_id
cross join lateral (
  select type, at, data from run_events where run_id = runs.id order by seq desc limit 1
) as last_fact
where runs.id = $1 and runs.account_id = $2 and deleted_at is null`,
);

export async function readWait(sql: Sql, { accountId, runId }: RunAddress): Promise<RunWait> {
  const row = await momentOfRun.first(sql, [runId, accountId]);
  if (!row) throw runNotFound(runId);
  return explainWait(toMoment(row));
}

const toMoment = (row: MomentRow): RunMoment => ({
  at: row.at,
  run: toRun(row.run),
  lastFact: {
    type: row.fact_type,
    at: row.fact_at,
    retryDelayMs: row.delay_ms === null ? undefined : Number(row.delay_ms),
    pacedBy: row.paced_by ?? undefined,
    preparing: row.preparing ?? undefined,
  },
  lease:
    row.is_leased && row.lease_expires_at !== null
      ? { isExpired: row.is_lease_expired, expiresAt: row.lease_expires_at }
      : undefined,
  thread: { isHeld: row.holds_thread, holder: row.holder ?? undefined, ahead: row.ahead_on_thread },
  queue: { name: row.queue, dueSince: row.due_since, ahead: row.ahead_in_queue },
  calls: row.calls,
  secrets: row.secrets,
  executorId: row.executor_id ?? undefined,
  unknown: unknownParts(
    toRun(row.run),
    row.fact_types.map((type) => ({ type })),
  ),
  childRuns: listChildren(row),
});

/** Their names are those of the fact with which the run began to wait. */
function listChildren({ run, children }: MomentRow): RunMoment['childRuns'] {
  const awaited = toRun(run).waiting?.child_runs ?? [];
  return children.map((child) => ({
    ...child,
    agent_name: awaited.find(({ run_id }) => run_id === child.run_id)?.agent_name ?? '',
  }));
}
