import { type AccountId, type NewId, type Schedule, type ScheduleId, type ThreadId, scheduleId } from '@rondo/contract';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { toStoredText } from '../../database/stored-text';
import { type PendingKey, storeResponse } from '../idempotency-keys';
import { type QuotaBounds, writeWithin } from '../billing/quota-bounds';
import { type Page, type PageRequest, idOfCursor, toPage } from '../page';
import { requireFreePlace, threadOfTrigger, type TriggersOfAgent, agentOfTrigger, isOfAgent } from './trigger';
import { lastExecution, lastExecutionColumn } from './executions';
import { type ActiveSchedule, toActiveSchedule, activeScheduleRow } from './active-schedule';
import {
  type ScheduleRow,
  type StoredSchedule,
  scheduleColumns,
  scheduleNotFound,
  toSchedule,
  scheduleRow,
} from './schedule-row';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';

export interface ScheduleAddress {
  readonly accountId: AccountId;
  readonly scheduleId: ScheduleId;
}

/** The fields of a schedule that a client sets. `thread_id` null, with the policy `same`: a new thread. */
export type ScheduleFields = Pick<
  Schedule,
  'name' | 'cron' | 'time_zone' | 'missed' | 'overlap' | 'thread' | 'thread_id' | 'run' | 'is_paused'
>;

/** The first due times after now, as many as a schedule shows. Fewer when no other follows. */
export type NextFires = (fields: Pick<ScheduleFields, 'cron' | 'time_zone'>, now: Date) => readonly Date[];

export interface NewSchedule {
  readonly accountId: AccountId;
  readonly fields: ScheduleFields;
  readonly promised?: PendingKey<StoredSchedule> | undefined;
  readonly bounds?: QuotaBounds | undefined;
}

export interface ScheduleChange extends ScheduleAddress {
  /** Undefined leaves a field as it is. */
  readonly fields: { readonly [Name in keyof ScheduleFields]?: ScheduleFields[Name] | undefined };
  readonly bounds?: QuotaBounds | undefined;
}

const clock = createQuery(z.object({ now: z.date() }), `select clock_timestamp() as now`);

const shownRow = scheduleRow.extend(lastExecutionColumn);
const shownColumns = `${scheduleColumns}, ${lastExecution}`;

const toShown = (row: z.infer<typeof shownRow>): StoredSchedule => ({
  ...toSchedule(row),
  last_execution: row.last_execution,
});

const insertSchedule = createQuery(
  shownRow,
  `
insert into triggers (id, account_id, kind, name, cron, time_zone, missed, overlap, thread_id, run, is_paused, next_fire_at,
  next_fires)
values ($1, $2, 'schedule', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning ${shownColumns}`,
);

const updateSchedule = createQuery(
  shownRow,
  `
update triggers set name = $3, cron = $4, time_zone = $5, missed = $6, overlap = $7, thread_id = $8, run = $9, is_paused = $10,
  next_fire_at = $11, next_fires = $12, updated_at = clock_timestamp()
where id = $1 and account_id = $2 returning ${shownColumns}`,
);

const oneSchedule = createQuery(
  shownRow,
  `select ${shownColumns} from triggers where kind = 'schedule' and account_id = $1 and id = $2`,
);
const lockedSchedule = createQuery(shownRow, `${oneSchedule.text} for update`);
/** With what the façade of Claude Managed Agents keeps of it as a deployment. */
const deleteSchedule = `
with kept as (
  delete from facade_ids
  where account_id = $1 and facade = 'anthropic' and kind = 'deployment' and outer_id = replace($2, 'sch_', 'depl_')
)
delete from triggers where kind = 'schedule' and account_id = $1 and id = $2 returning id`;

const newestSchedules = createQuery(
  shownRow,
  `
select ${shownColumns} from triggers
where kind = 'schedule' and account_id = $1 and ($2::text is null or id < $2) and ${isOfAgent('$3')}
order by id desc limit $4`,
);

const activeSchedules = createQuery(
  activeScheduleRow,
  `
select id, name, cron, time_zone, missed, next_fire_at, next_fires, ${agentOfTrigger} as agent_id from triggers
where kind = 'schedule' and account_id = $1 and not is_paused and next_fire_at is not null and ${isOfAgent('$2')}
order by next_fire_at, id`,
);

/** Schedules of one account each: another account's schedule does not exist (`schedule_not_found`). */
export class Schedules {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** Rejects with `too_many_triggers` and `thread_not_found`, and with QuotaReached. */
  create(wanted: NewSchedule, nextFires: NextFires): Promise<StoredSchedule> {
    const { accountId, fields, promised } = wanted;
    return this.inTransaction(wanted, async (sql) => {
      await requireFreePlace(sql, accountId);
      const id = scheduleId.parse(`sch_${this.newId()}`);
      const thread = await threadOfTrigger(sql, this.newId, { accountId, fields });
      const next = firesFrom(fields, nextFires(fields, await now(sql)));
      const row = await insertSchedule.first(sql, listValues({ accountId, id, fields, thread, next }));
      if (!row) throw scheduleNotFound(id);
      return storeResponse(sql, promised, toShown(row));
    });
  }

  private inTransaction<Stored>(
    place: { readonly accountId: AccountId; readonly bounds?: QuotaBounds | undefined },
    work: (sql: Sql) => Promise<Stored>,
  ): Promise<Stored> {
    return this.database.transaction((sql) => writeWithin(sql, place, () => work(sql)));
  }

  async get({ accountId, scheduleId: id }: ScheduleAddress): Promise<StoredSchedule> {
    const row = await oneSchedule.first(this.database.sql, [accountId, id]);
    if (!row) throw scheduleNotFound(id);
    return toShown(row);
  }

  /** Newest first. */
  async list({ accountId, agentId, after, limit }: PageRequest & TriggersOfAgent): Promise<Page<StoredSchedule>> {
    const cursor = after === undefined ? null : idOfCursor(after, scheduleId);
    const values = [accountId, cursor, agentId ?? null, limit + 1];
    const rows = await newestSchedules.all(this.database.sql, values);
    return toPage(rows.map(toShown), limit);
  }

  /** Those that are not paused and have a due time to come, by that time. An account has a thousand at most. */
  async active({ accountId, agentId }: TriggersOfAgent): Promise<ActiveSchedule[]> {
    const rows = await activeSchedules.all(this.database.sql, [accountId, agentId ?? null]);
    return rows.map(toActiveSchedule);
  }

  /** Another cron expression or time zone counts from now, and so does the end of a pause: what came meanwhile was not due. */
  update(change: ScheduleChange, nextFires: NextFires): Promise<StoredSchedule> {
    const { accountId, scheduleId: id, fields } = change;
    return this.inTransaction(change, async (sql) => {
      const row = await lockedSchedule.first(sql, [accountId, id]);
      if (!row) throw scheduleNotFound(id);
      const known = toSchedule(row);
      const changed = changeSchedule(known, fields);
      const isSameThread = changed.thread === known.thread && changed.thread_id === known.thread_id;
      const thread = isSameThread
        ? known.thread_id
        : await threadOfTrigger(sql, this.newId, { accountId, fields: changed });
      const countsOn = (['cron', 'time_zone', 'is_paused'] as const).every((name) => changed[name] === known[name]);
      const next = countsOn ? row : firesFrom(changed, nextFires(changed, await now(sql)));
      const values = listValues({ accountId, id, fields: changed, thread, next });
      const updated = await updateSchedule.first(sql, values);
      if (!updated) throw scheduleNotFound(id);
      return toShown(updated);
    });
  }

  /** With its executions. Its runs stay. */
  async delete({ accountId, scheduleId: id }: ScheduleAddress): Promise<void> {
    const deleted = await this.database.sql.query(deleteSchedule, [accountId, id]);
    if (deleted.length === 0) throw scheduleNotFound(id);
  }
}

const firesFrom = ({ is_paused: isPaused }: Pick<Schedule, 'is_paused'>, fires: readonly Date[]) => ({
  next_fire_at: isPaused ? null : (fires[0] ?? null),
  next_fires: fires,
});

function changeSchedule(known: Schedule, fields: ScheduleChange['fields']): ScheduleFields {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const changed: ScheduleFields = { ...known, ...given };
  return changed.thread === 'new' ? { ...changed, thread_id: null } : changed;
}

interface ScheduleValues {
  readonly accountId: AccountId;
  readonly id: ScheduleId;
  readonly fields: ScheduleFields;
  readonly thread: ThreadId | null;
  readonly next: Pick<ScheduleRow, 'next_fire_at'> & { readonly next_fires: readonly Date[] | null };
}

const listValues = ({ accountId, id, fields, thread, next }: ScheduleValues) => [
  ...[id, accountId, toStoredText(fields.name), fields.cron, fields.time_zone, fields.missed, fields.overlap],
  ...[thread, JSON.stringify(fields.run), fields.is_paused, next.next_fire_at, next.next_fires],
];

async function now(sql: Sql): Promise<Date> {
  const row = await clock.first(sql);
  return row?.now ?? new Date(NaN);
}
