import {
  type Execution,
  executionId,
  runId,
  executionReason,
  executionStatus,
  finishReason,
  runStatus,
} from '@rondo/contract';
import type { Database } from '../../database/database';
import { toStoredText } from '../../database/stored-text';
import { type Page, type PageRequest, idOfCursor, toPage } from '../page';
import { z } from 'zod';
import { createQuery, jsonDocument, timeColumn } from '../../database/checked-query';

const executionRow = z.object({
  id: executionId,
  status: executionStatus,
  reason: executionReason.nullable(),
  error: jsonDocument<{ code: string; detail: string }>().nullable(),
  due_at: timeColumn.nullable(),
  due_through: timeColumn.nullable(),
  webhook_id: z.string().nullable(),
  fired_at: timeColumn.nullable(),
  run_id: runId.nullable(),
  run_status: runStatus.nullable(),
  run_finish_reason: finishReason.nullable(),
  attempts: z.number(),
  next_attempt_at: timeColumn.nullable(),
  created_at: timeColumn,
});

/** The runs of deleted threads count as deleted. */
const shownExecutions = `
select executions.id, executions.status, reason, executions.error, due_at, due_through, webhook_id, fired_at, run_id,
  shown.status as run_status, shown.finish_reason as run_finish_reason, attempts, next_attempt_at, executions.created_at
from trigger_executions as executions left join lateral (
  select runs.status, runs.finish_reason from runs join threads on threads.id = runs.thread_id
  where runs.id = executions.run_id and threads.deleted_at is null
) as shown on true`;

const newestExecutions = createQuery(
  executionRow,
  `${shownExecutions}
where trigger_id = $1 and ($2::text is null or executions.id < $2) order by executions.id desc limit $3`,
);

/** The newest one of a row of `triggers`. */
export const lastExecution = `(
  select row_to_json(newest) from (
    ${shownExecutions} where trigger_id = triggers.id order by executions.id desc limit 1
  ) as newest
) as last_execution`;

export const lastExecutionColumn = { last_execution: executionRow.nullable() };

const ofWebhook = createQuery(executionRow, `${shownExecutions} where trigger_id = $1 and webhook_id = $2`);

const prune = `
delete from trigger_executions where id in (
  select id from trigger_executions
  where created_at < clock_timestamp() - interval '30 days' and status <> 'pending' and not run_may_be_active
  limit 5000
) returning id`;

/** What became of the due times of triggers, for 30 days. */
export class Executions {
  constructor(private readonly database: Database) {}

  /** Newest first. The caller has checked whose trigger it is. */
  async list(triggerId: string, { after, limit }: PageRequest): Promise<Page<Execution>> {
    const cursor = after === undefined ? null : idOfCursor(after, executionId);
    const rows = await newestExecutions.all(this.database.sql, [triggerId, cursor, limit + 1]);
    return toPage(rows, limit);
  }

  /** What became of a webhook. Undefined for one that was not handled before. */
  ofWebhook(triggerId: string, webhookId: string): Promise<Execution | undefined> {
    return ofWebhook.first(this.database.sql, [triggerId, toStoredText(webhookId)]);
  }

  /** Deletes at most 5,000 that are older than 30 days; the next call continues. Returns how many. */
  async prune(): Promise<number> {
    return (await this.database.sql.query(prune)).length;
  }
}
