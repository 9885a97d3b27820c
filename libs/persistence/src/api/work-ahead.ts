import { z } from 'zod';
import { createQuery } from '../database/checked-query';
import type { Database } from '../database/database';
import { readableJson } from '../database/stored-text';

const soon = `clock_timestamp() + $1::int * interval '1 ms'`;

const waiting = readableJson('waiting');

/** What periodic tasks of the deployment act on. Each condition reads an index of what is unfinished. */
const conditions = {
  activeRuns: `exists (select from runs where holds_thread and waiting is null)`,
  jobs: `exists (select from outbox)`,
  strandedRuns: `exists (
    select from runs as behind where not holds_thread and finished_at is null
      and not exists (select from runs as holder where holder.thread_id = behind.thread_id and holder.holds_thread)
  )`,
  expiringWaits: `exists (
    select from runs cross join json_array_elements(
      coalesce(${waiting}->'approvals', ${waiting}->'tool_calls', ${waiting}->'elicitations')
    ) as awaited
    where waiting is not null and ${waiting}->>'reason' in ('approval', 'caller_tools', 'elicitation')
      and (awaited->>'expires_at')::timestamptz < ${soon}
  )`,
  titles: `exists (select from projects where title_due_at < ${soon})`,
  deliveries: `exists (select from webhook_deliveries where status = 'pending' and next_attempt_at < ${soon})`,
  schedules: `exists (select from triggers where next_fire_at < ${soon})`,
  executions: `exists (
    select from trigger_executions join triggers on triggers.id = trigger_id
    where trigger_executions.status = 'pending' and not is_paused and next_attempt_at < ${soon}
  )`,
} as const;

export type WorkKind = keyof typeof conditions;

/** Looks for all that the periodic tasks of a process would find, in one statement. */
export class WorkAhead {
  private readonly statement;

  constructor(
    private readonly database: Pick<Database, 'sql'>,
    kinds: readonly WorkKind[],
  ) {
    const any = kinds.map((kind) => conditions[kind]).join('\n  or ');
    this.statement = createQuery(z.object({ ahead: z.boolean() }), `select ${any}\n  or $1::int < 0 as ahead`);
  }

  /** Whether there is work, or will be within so many milliseconds as far as Postgres can tell. */
  async within(ms: number): Promise<boolean> {
    return (await this.statement.first(this.database.sql, [ms]))?.ahead ?? true;
  }
}
