import { type Execution, executionId, runId } from '@rondo/contract';
import type { Database } from '../../database/database';
import { storedText } from '../../database/stored-text';
import { type Page, type PageRequest, idOfCursor, pageOf } from '../page';

interface ExecutionRow {
  readonly id: string;
  readonly status: Execution['status'];
  readonly reason: Execution['reason'];
  readonly error: Execution['error'];
  readonly due_at: Date | null;
  readonly due_through: Date | null;
  readonly webhook_id: string | null;
  readonly fired_at: Date | null;
  readonly run_id: string | null;
  readonly run_status: Execution['run_status'];
  readonly attempts: number;
  readonly next_attempt_at: Date | null;
  readonly created_at: Date;
}

/** The runs of deleted threads count as deleted. */
const shownExecutions = `
select executions.id, executions.status, reason, executions.error, due_at, due_through, webhook_id, fired_at, run_id,
  shown.status as run_status, attempts, next_attempt_at, executions.created_at
from trigger_executions as executions left join lateral (
  select runs.status from runs join threads on threads.id = runs.thread_id
  where runs.id = executions.run_id and threads.deleted_at is null
) as shown on true`;

const newestExecutions = `${shownExecutions}
where trigger_id = $1 and ($2::text is null or executions.id < $2) order by executions.id desc limit $3`;

const ofWebhook = `${shownExecutions} where trigger_id = $1 and webhook_id = $2`;

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
    const rows = await this.database.sql.query<ExecutionRow>(newestExecutions, [triggerId, cursor, limit + 1]);
    return pageOf(rows.map(executionOf), limit);
  }

  /** What became of a webhook. Undefined for one that was not handled before. */
  async ofWebhook(triggerId: string, webhookId: string): Promise<Execution | undefined> {
    const [row] = await this.database.sql.query<ExecutionRow>(ofWebhook, [triggerId, storedText(webhookId)]);
    return row && executionOf(row);
  }

  /** Deletes at most 5,000 that are older than 30 days; the next call continues. Returns how many. */
  async prune(): Promise<number> {
    return (await this.database.sql.query(prune)).length;
  }
}

const executionOf = (row: ExecutionRow): Execution => ({
  ...row,
  id: executionId.parse(row.id),
  run_id: row.run_id === null ? null : runId.parse(row.run_id),
  due_at: isoOf(row.due_at),
  due_through: isoOf(row.due_through),
  fired_at: isoOf(row.fired_at),
  next_attempt_at: isoOf(row.next_attempt_at),
  created_at: row.created_at.toISOString(),
});

const isoOf = (date: Date | null): string | null => date?.toISOString() ?? null;
