import type { AccountId } from '@rondo/contract';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';

/** The newest runs that are looked at, so that the largest account costs no more than this. */
const mostRuns = 200_000;

/** When a run began to take time. A fork has the start of its origin, whose time is that one's. */
const ownStart = `case when forked_from is null or started_at is null then started_at else greatest(started_at, created_at) end`;

const readMinutes = createQuery(
  z.object({ minutes: z.number() }),
  `
with month as (select date_trunc('month', now(), 'UTC') as start),
ran as (
  select ${ownStart} as started_at, coalesce(finished_at, now()) as ended_at from runs where account_id = $1 order by id desc limit ${mostRuns}
)
select floor((
  (
    select coalesce(sum(extract(epoch from ended_at - greatest(started_at, start))), 0)
    from ran, month where started_at is not null and ended_at > start
  ) + (
    select coalesce(sum(seconds), 0)
    from deleted_run_time, month where account_id = $1 and day >= (start at time zone 'UTC')::date
  )
) / 60)::int as minutes`,
);

/**
 * The whole minutes that the account's runs have taken in this calendar month (UTC), each from its start to its end or to now.
 * Reads many rows: not for every request.
 */
export async function readRunMinutes({ sql }: Pick<Database, 'sql'>, account: AccountId): Promise<number> {
  return (await readMinutes.first(sql, [account]))?.minutes ?? 0;
}

const deleteRuns = `
with deleted as (delete from runs where id = any($1::text[]) returning account_id, ${ownStart} as started_at, finished_at),
days as (
  select account_id, (day at time zone 'UTC')::date as day,
    sum(extract(epoch from least(finished_at, day + interval '24 hours') - greatest(started_at, day))) as seconds
  from deleted, generate_series(date_trunc('day', started_at, 'UTC'), finished_at, interval '24 hours') as day
  group by 1, 2
)
insert into deleted_run_time (account_id, day, seconds) select account_id, day, seconds from days
on conflict (account_id, day) do update set seconds = deleted_run_time.seconds + excluded.seconds`;

/** Deletes the rows of runs, whose minutes still count. */
export async function deleteEndedRuns(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query(deleteRuns, [ids]);
}
