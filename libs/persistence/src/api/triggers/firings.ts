import {
  type AccountId,
  type Execution,
  type NewId,
  type RunId,
  type Schedule,
  type WebhookTrigger,
  accountId,
} from '@rondo/contract';
import type { Database } from '../../database/database';
import { type AlongsideRun, AlreadyFired, FiringTaken, requireIdle } from './firing-claim';
import { toStoredText } from '../../database/stored-text';
import { scheduleColumns, toSchedule, scheduleRow } from './schedule-row';
import { webhookRow, toWebhookTrigger } from './webhook-row';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';

/** A schedule whose next due time has come. */
export interface DueSchedule {
  readonly accountId: AccountId;
  readonly schedule: Schedule;
  readonly dueAt: Date;
}

/** An execution whose run is still to be created. */
export interface PendingExecution {
  readonly accountId: AccountId;
  readonly trigger: Schedule | WebhookTrigger;
  readonly id: string;
  readonly dueAt: Date | null;
  /** Rendered, of a webhook. */
  readonly input: string | null;
  readonly attempts: number;
}

/** A webhook whose signature was right. */
export interface ReceivedWebhook {
  readonly accountId: AccountId;
  readonly trigger: WebhookTrigger;
  readonly webhookId: string;
  /** What the template made of its body. */
  readonly input: string;
}

export interface DueRequest {
  readonly limit: number;
  /** Accounts that are left out. */
  readonly without: readonly AccountId[];
}

/** One due time of a schedule, and those that follow, as many as a schedule shows. */
export interface DueTime extends DueSchedule {
  readonly next: readonly Date[];
}

export type ExecutionOutcome = Pick<Execution, 'status' | 'reason' | 'error'> & {
  readonly dueThrough?: Date | undefined;
  readonly nextAttemptAt?: Date | undefined;
  readonly attempts: number;
};

const clock = createQuery(z.object({ now: z.date() }), `select clock_timestamp() as now`);

const dueRow = scheduleRow.extend({ account_id: accountId });

/** The columns of a schedule are null in the row of a webhook trigger, and the other way round. */
const pendingRow = z
  .object({
    account_id: accountId,
    execution_id: z.string(),
    due_at: z.date().nullable(),
    input: z.string().nullable(),
    attempts: z.number(),
  })
  .and(
    z.discriminatedUnion('kind', [
      scheduleRow.extend({ kind: z.literal('schedule') }),
      webhookRow.extend({ kind: z.literal('webhook') }),
    ]),
  );

/** Accounts take turns: the oldest due time of each comes first, then the second oldest of each. */
const dueSchedules = createQuery(
  dueRow,
  `
select account_id, ${scheduleColumns}
from (
  select id as due_id, row_number() over (partition by account_id order by next_fire_at) as turn
  from triggers where next_fire_at <= $1 and account_id <> all($3::text[])
) as due join triggers on triggers.id = due_id join accounts on accounts.id = account_id
where removed_at is null order by turn, next_fire_at limit $2`,
);

const pendingExecutions = createQuery(
  pendingRow,
  `
select account_id, executions.id as execution_id, due_at, executions.input, attempts, ${scheduleColumns}, kind, signature,
  tolerance_s, secrets
from (
  select distinct on (trigger_id) * from trigger_executions where status = 'pending' order by trigger_id, id
) as executions join triggers on triggers.id = trigger_id join accounts on accounts.id = account_id
where next_attempt_at <= $1 and not is_paused and removed_at is null and account_id <> all($3::text[])
order by row_number() over (partition by account_id order by next_attempt_at), next_attempt_at limit $2`,
);

const lockDue = `select id from triggers where id = $1 and next_fire_at = $2 for update skip locked`;
const lockTrigger = `select id from triggers where id = $1 for update skip locked`;

const insertStarted = `
insert into trigger_executions (id, trigger_id, status, due_at, fired_at, run_id, run_may_be_active, attempts)
values ($1, $2, 'started', $3, clock_timestamp(), $4, true, 1) on conflict (trigger_id, due_at) do nothing returning id`;

const advance = `update triggers set next_fire_at = $3, next_fires = $4 where id = $1 and next_fire_at = $2`;

const startPending = `
update trigger_executions
set status = 'started', reason = null, error = null, next_attempt_at = null, input = null, fired_at = clock_timestamp(), run_id = $2,
  run_may_be_active = true, attempts = attempts + 1
where id = $1 and status = 'pending' returning id`;

const recordDue = `
with claimed as (
  update triggers set next_fire_at = $3, next_fires = $11 where id = $2 and next_fire_at = $4 returning id
)
insert into trigger_executions (id, trigger_id, status, reason, error, due_at, due_through, attempts, next_attempt_at)
select $1, id, $5, $6, $7::json, $4, $8, $9, $10 from claimed
on conflict (trigger_id, due_at) do nothing`;

const recordPending = `
update trigger_executions set status = $2, reason = $3, error = $4, attempts = $5, next_attempt_at = $6
where id = $1 and status = 'pending'`;

const awaitTrigger = `select id from triggers where id = $1 for update`;

const insertReceived = `
insert into trigger_executions (id, trigger_id, status, webhook_id, fired_at, run_id, run_may_be_active, attempts)
values ($1, $2, 'started', $3, clock_timestamp(), $4, true, 1) on conflict (trigger_id, webhook_id) do nothing returning id`;

const recordReceived = `
insert into trigger_executions (id, trigger_id, webhook_id, status, reason, error, attempts, next_attempt_at, input)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (trigger_id, webhook_id) do nothing`;

const countPending = createQuery(
  z.object({ count: z.number() }),
  `select count(*)::int as count from trigger_executions where trigger_id = $1 and status = 'pending'`,
);

/**
 * The due times of schedules, and what becomes of them. A due time is claimed by moving `next_fire_at` on, in one
 * transaction with the execution, and with the run if it gets one: so it is neither lost nor fired twice, whatever dies in
 * between and however many gateways fire. The unique index of due times holds this also when clocks are set back.
 */
export class Firings {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** The clock by which all gateways fire. */
  async now(): Promise<Date> {
    const row = await clock.first(this.database.sql);
    return row?.now ?? new Date(NaN);
  }

  /** Lists the due ones in the order in which they are to be fired: accounts take turns. */
  async due(now: Date, { limit, without }: DueRequest): Promise<readonly DueSchedule[]> {
    const rows = await dueSchedules.all(this.database.sql, [now, limit, without]);
    return rows.map((row) => ({ ...toPlace(row), dueAt: row.next_fire_at ?? now }));
  }

  /** The oldest one of each trigger, if its time has come; accounts take turns. */
  async pending(now: Date, { limit, without }: DueRequest): Promise<readonly PendingExecution[]> {
    const rows = await pendingExecutions.all(this.database.sql, [now, limit, without]);
    return rows.map((row) => ({
      accountId: row.account_id,
      trigger: row.kind === 'webhook' ? toWebhookTrigger(row) : toSchedule(row),
      id: row.execution_id,
      dueAt: row.due_at,
      input: row.input,
      attempts: row.attempts,
    }));
  }

  async countPending({ id }: Pick<Schedule | WebhookTrigger, 'id'>): Promise<number> {
    const row = await countPending.first(this.database.sql, [id]);
    return row?.count ?? 0;
  }

  /** Claims a due time for a run. Rejects with FiringTaken, AlreadyFired and TriggerBusyError. */
  fire({ schedule, dueAt, next }: DueTime, runId: RunId): AlongsideRun {
    return async (sql) => {
      if ((await sql.query(lockDue, [schedule.id, dueAt])).length === 0) throw new FiringTaken();
      const id = this.nextId();
      if (schedule.overlap !== 'allow') await requireIdle(sql, schedule, id);
      const inserted = await sql.query(insertStarted, [id, schedule.id, dueAt, runId]);
      if (inserted.length === 0) throw new AlreadyFired();
      await sql.query(advance, [schedule.id, dueAt, next[0] ?? null, next]);
    };
  }

  /** An execution that no due time caused, whatever else the schedule does. */
  fireNow({ id }: Pick<Schedule, 'id'>, runId: RunId): AlongsideRun {
    return async (sql) => {
      await sql.query(insertStarted, [this.nextId(), id, null, runId]);
    };
  }

  /** The same for an execution that is pending. */
  start({ id, trigger }: PendingExecution, runId: RunId): AlongsideRun {
    return async (sql) => {
      if ((await sql.query(lockTrigger, [trigger.id])).length === 0) throw new FiringTaken();
      if (trigger.overlap !== 'allow') await requireIdle(sql, trigger, id);
      if ((await sql.query(startPending, [id, runId])).length === 0) throw new FiringTaken();
    };
  }

  /** Claims a due time that gets no run, or not yet. Does nothing if it was claimed, or has an execution already. */
  async record({ schedule, dueAt, next }: DueTime, outcome: ExecutionOutcome): Promise<void> {
    const { status, reason, error, attempts, dueThrough, nextAttemptAt } = outcome;
    await this.database.sql.query(recordDue, [
      ...[this.nextId(), schedule.id, next[0] ?? null, dueAt, status, reason],
      ...[error && JSON.stringify(error), dueThrough ?? null, attempts, nextAttemptAt ?? null, next],
    ]);
  }

  /** Another outcome of a pending execution. */
  async recordPending({ id }: PendingExecution, outcome: ExecutionOutcome): Promise<void> {
    const { status, reason, error, attempts, nextAttemptAt } = outcome;
    const values = [id, status, reason, error && JSON.stringify(error), attempts, nextAttemptAt ?? null];
    await this.database.sql.query(recordPending, values);
  }

  /**
   * Claims a webhook for a run. Rejects with AlreadyFired and TriggerBusyError. Webhooks of a trigger that must not overlap
   * are claimed one after the other.
   */
  fireWebhook({ trigger, webhookId }: ReceivedWebhook, runId: RunId): AlongsideRun {
    return async (sql) => {
      const id = this.nextId();
      if (trigger.overlap !== 'allow') {
        await sql.query(awaitTrigger, [trigger.id]);
        await requireIdle(sql, trigger, id);
      }
      const inserted = await sql.query(insertReceived, [id, trigger.id, toStoredText(webhookId), runId]);
      if (inserted.length === 0) throw new AlreadyFired();
    };
  }

  /** Claims a webhook that gets no run, or not yet. Does nothing if it was claimed. */
  async recordWebhook({ trigger, webhookId, input }: ReceivedWebhook, outcome: ExecutionOutcome): Promise<void> {
    const { status, reason, error, attempts, nextAttemptAt } = outcome;
    await this.database.sql.query(recordReceived, [
      ...[this.nextId(), trigger.id, toStoredText(webhookId), status, reason, error && JSON.stringify(error)],
      ...[attempts, nextAttemptAt ?? null, status === 'pending' ? JSON.stringify(input) : null],
    ]);
  }

  private nextId(): string {
    return `exc_${this.newId()}`;
  }
}

const toPlace = (row: z.infer<typeof dueRow>) => ({
  accountId: row.account_id,
  schedule: toSchedule(row),
});
