import { type AccountId, type Execution, type NewId, type RunId, type Schedule, accountId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { type ScheduleRow, scheduleColumns, scheduleOf } from './schedule-row';

/** A schedule whose next due time has come. */
export interface DueSchedule {
  readonly accountId: AccountId;
  readonly schedule: Schedule;
  readonly dueAt: Date;
}

/** An execution whose run is still to be created. */
export interface PendingExecution {
  readonly accountId: AccountId;
  readonly schedule: Schedule;
  readonly id: string;
  readonly dueAt: Date | null;
  readonly attempts: number;
}

/** One due time of a schedule, and the one that follows. */
export interface DueTime extends DueSchedule {
  readonly next: Date | null;
}

export type ExecutionOutcome = Pick<Execution, 'status' | 'reason' | 'error'> & {
  readonly dueThrough?: Date | undefined;
  readonly nextAttemptAt?: Date | undefined;
  readonly attempts: number;
};

/** Writes in the transaction that creates a run, before it. When it rejects, nothing is written. */
export type AlongsideRun = (sql: Sql) => Promise<void>;

/** Another gateway fires it, has fired it, or the schedule was changed. */
export class FiringTaken extends Error {
  override readonly name = 'FiringTaken';
}

/** The due time has an execution: the clock was set back. */
export class AlreadyFired extends Error {
  override readonly name = 'AlreadyFired';
}

/** An earlier run of the trigger is not finished, or an earlier execution has no run yet. */
export class TriggerBusyError extends TerminalError {
  override readonly name = 'TriggerBusyError';

  constructor() {
    super('trigger_busy', 'An earlier run of this trigger is not finished.');
  }
}

const clock = `select clock_timestamp() as now`;

const dueSchedules = `
select account_id, ${scheduleColumns} from triggers join accounts on accounts.id = account_id
where next_fire_at <= $1 and removed_at is null order by next_fire_at limit $2`;

const pendingExecutions = `
select account_id, executions.id as execution_id, due_at, attempts, ${scheduleColumns}
from (
  select distinct on (trigger_id) * from trigger_executions where status = 'pending' order by trigger_id, id
) as executions join triggers on triggers.id = trigger_id join accounts on accounts.id = account_id
where next_attempt_at <= $1 and not is_paused and removed_at is null order by next_attempt_at limit $2`;

const lockDue = `select id from triggers where id = $1 and next_fire_at = $2 for update skip locked`;
const lockTrigger = `select id from triggers where id = $1 for update skip locked`;

/** Forgets runs that are finished or deleted. */
const forgetFinished = `
update trigger_executions set run_may_be_active = false
where trigger_id = $1 and run_may_be_active
  and not exists (select from runs where runs.id = run_id and runs.finished_at is null)`;

const ahead = `
select id from trigger_executions where trigger_id = $1 and (run_may_be_active or (status = 'pending' and id < $2)) limit 1`;

const insertStarted = `
insert into trigger_executions (id, trigger_id, status, due_at, fired_at, run_id, run_may_be_active, attempts)
values ($1, $2, 'started', $3, clock_timestamp(), $4, true, 1) on conflict (trigger_id, due_at) do nothing returning id`;

const advance = `update triggers set next_fire_at = $3 where id = $1 and next_fire_at = $2`;

const startPending = `
update trigger_executions
set status = 'started', reason = null, error = null, next_attempt_at = null, fired_at = clock_timestamp(), run_id = $2,
  run_may_be_active = true, attempts = attempts + 1
where id = $1 and status = 'pending' returning id`;

const recordDue = `
with claimed as (update triggers set next_fire_at = $3 where id = $2 and next_fire_at = $4 returning id)
insert into trigger_executions (id, trigger_id, status, reason, error, due_at, due_through, attempts, next_attempt_at)
select $1, id, $5, $6, $7::json, $4, $8, $9, $10 from claimed
on conflict (trigger_id, due_at) do nothing`;

const recordPending = `
update trigger_executions set status = $2, reason = $3, error = $4, attempts = $5, next_attempt_at = $6
where id = $1 and status = 'pending'`;

const countPending = `select count(*)::int as count from trigger_executions where trigger_id = $1 and status = 'pending'`;

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
    const [row] = await this.database.sql.query<{ now: Date }>(clock);
    return row?.now ?? new Date(NaN);
  }

  async due(now: Date, limit: number): Promise<readonly DueSchedule[]> {
    const rows = await this.database.sql.query<ScheduleRow & OfAccount>(dueSchedules, [now, limit]);
    return rows.map((row) => ({ ...placeOf(row), dueAt: row.next_fire_at ?? now }));
  }

  /** The oldest one of each trigger, if its time has come. */
  async pending(now: Date, limit: number): Promise<readonly PendingExecution[]> {
    const rows = await this.database.sql.query<PendingRow>(pendingExecutions, [now, limit]);
    return rows.map((row) => ({
      ...placeOf(row),
      id: row.execution_id,
      dueAt: row.due_at,
      attempts: row.attempts,
    }));
  }

  async countPending({ schedule }: Pick<DueSchedule, 'schedule'>): Promise<number> {
    const [row] = await this.database.sql.query<{ count: number }>(countPending, [schedule.id]);
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
      await sql.query(advance, [schedule.id, dueAt, next]);
    };
  }

  /** An execution that no due time caused, whatever else the schedule does. */
  fireNow({ id }: Pick<Schedule, 'id'>, runId: RunId): AlongsideRun {
    return async (sql) => {
      await sql.query(insertStarted, [this.nextId(), id, null, runId]);
    };
  }

  /** The same for an execution that is pending. */
  start({ id, schedule }: PendingExecution, runId: RunId): AlongsideRun {
    return async (sql) => {
      if ((await sql.query(lockTrigger, [schedule.id])).length === 0) throw new FiringTaken();
      if (schedule.overlap !== 'allow') await requireIdle(sql, schedule, id);
      if ((await sql.query(startPending, [id, runId])).length === 0) throw new FiringTaken();
    };
  }

  /** Claims a due time that gets no run, or not yet. Does nothing if it was claimed, or has an execution already. */
  async record({ schedule, dueAt, next }: DueTime, outcome: ExecutionOutcome): Promise<void> {
    const { status, reason, error, attempts, dueThrough, nextAttemptAt } = outcome;
    await this.database.sql.query(recordDue, [
      ...[this.nextId(), schedule.id, next, dueAt, status, reason],
      ...[error && JSON.stringify(error), dueThrough ?? null, attempts, nextAttemptAt ?? null],
    ]);
  }

  /** Another outcome of a pending execution. */
  async recordPending({ id }: PendingExecution, outcome: ExecutionOutcome): Promise<void> {
    const { status, reason, error, attempts, nextAttemptAt } = outcome;
    const values = [id, status, reason, error && JSON.stringify(error), attempts, nextAttemptAt ?? null];
    await this.database.sql.query(recordPending, values);
  }

  private nextId(): string {
    return `exc_${this.newId()}`;
  }
}

interface OfAccount {
  readonly account_id: string;
}

interface PendingRow extends ScheduleRow, OfAccount {
  readonly execution_id: string;
  readonly due_at: Date | null;
  readonly attempts: number;
}

const placeOf = (row: ScheduleRow & OfAccount) => ({
  accountId: accountId.parse(row.account_id),
  schedule: scheduleOf(row),
});

async function requireIdle(sql: Sql, { id }: Pick<Schedule, 'id'>, execution: string): Promise<void> {
  await sql.query(forgetFinished, [id]);
  if ((await sql.query(ahead, [id, execution])).length > 0) throw new TriggerBusyError();
}
