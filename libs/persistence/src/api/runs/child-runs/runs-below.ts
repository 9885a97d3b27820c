import {
  type AccountId,
  type ChildRun,
  type RunId,
  accountId,
  agentId,
  callId,
  finishReason,
  runId,
  runStatus,
} from '@rondo/contract';
import type { StoppedChild } from '@rondo/domain';
import type { Sql } from '../../../database/sql';
import { z } from 'zod';
import { createQuery } from '../../../database/checked-query';
import { readableJson } from '../../../database/stored-text';

const below = `
with recursive below as (
  select id from runs where parent_run_id = $1
  union all
  select runs.id from runs join below on runs.parent_run_id = below.id
)`;

const unstopped = createQuery(
  z.object({ id: runId }),
  `
${below}
select runs.id from runs join below on below.id = runs.id
where finished_at is null and stop_requested_at is null order by runs.id`,
);

/** The runs below a run, at any depth, that are not over and were not told to stop. */
export const listUnstoppedBelow = async (sql: Sql, id: RunId): Promise<readonly RunId[]> =>
  (await unstopped.all(sql, [id])).map((row) => row.id);

const stopped = createQuery(
  z.object({ run_id: runId, finished_at: z.date().nullable() }),
  `
${below}
select runs.id as run_id, finished_at from runs join below on below.id = runs.id
where stop_requested_at is not null order by runs.id`,
);

/** The runs below a run that were told to stop, and when each was over. */
export async function listStoppedBelow(sql: Sql, id: RunId): Promise<readonly StoppedChild[]> {
  const rows = await stopped.all(sql, [id]);
  return rows.map(({ run_id, finished_at }) => ({ run_id, ended_at: finished_at?.toISOString() ?? null }));
}

const children = createQuery(
  z.object({
    id: runId,
    tool_call_id: callId,
    agent_id: agentId.nullable(),
    status: runStatus,
    finish_reason: finishReason.nullable(),
  }),
  `
select id, parent_call_id as tool_call_id, agent_id, status, finish_reason from runs where parent_run_id = $1 order by id limit 100`,
);

export const readChildren = (sql: Sql, id: RunId): Promise<readonly ChildRun[]> => children.all(sql, [id]);

/** A run that must be told to stop, and why. */
export interface RunToStop {
  readonly accountId: AccountId;
  readonly runId: RunId;
  readonly reason: string;
}

const orphans = createQuery(
  z.object({ accountId, runId, reason: z.string() }),
  `
select child.account_id as "accountId", child.id as "runId", 'its parent is over or stops' as reason
from runs as child left join runs as parent on parent.id = child.parent_run_id
where child.parent_run_id is not null and child.finished_at is null and child.stop_requested_at is null
  and (parent.id is null or parent.finished_at is not null or parent.stop_requested_at is not null)
limit 100`,
);

/** Children that no run waits for: their parent ended, stops or was deleted, and they were not told. */
export const listOrphans = (sql: Sql): Promise<readonly RunToStop[]> => orphans.all(sql);

const unwelcomeWaits = createQuery(
  z.object({ accountId, runId, reason: z.string() }),
  `
select child.account_id as "accountId", child.id as "runId",
  'it waited for a person' || coalesce(': ' || left(${readableJson('child.waiting')}->'question'->>'text', 400), ' to raise a budget') as reason
from runs as child join tool_calls on tool_calls.id = child.parent_call_id
where child.waiting is not null and child.parent_run_id is not null and child.status in ('waiting_input', 'waiting_budget')
  and child.stop_requested_at is null and ${readableJson('tool_calls.arguments')}->>'on_waiting' = 'stop'
limit 100`,
);

/** Children that wait for a person although the call that started them says not to. */
export const runsNotToWait = (sql: Sql): Promise<readonly RunToStop[]> => unwelcomeWaits.all(sql);
