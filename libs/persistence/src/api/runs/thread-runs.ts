import { type Run, type RunId, type ThreadId, runId, threadId } from '@rondo/contract';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Sql } from '../../database/sql';
import { runRow, toRun } from '../../run-log/run-row';
import type { ThreadAddress } from '../thread-row';
import { isMessageToRun } from './tell-run';

/** A run that has had its thread, its place among all of them: 1, 2, 3 …, and how many facts those before it have. */
export interface BegunRun {
  readonly id: RunId;
  readonly place: number;
  readonly factsBefore: number;
}

/**
 * A run begins where the messages before it end, so a later one never comes before an earlier one, and a place never changes. A
 * run that was stopped while it was queued has none.
 */
const begunOnThread = `
select id, place::int, facts_before::int as "factsBefore" from (
  select runs.id, row_number() over so_far as place, coalesce(sum(last_seq) over so_far - last_seq, 0) as facts_before
  from runs join threads on threads.id = thread_id
  where thread_id = $1 and runs.account_id = $2 and deleted_at is null and past_through is not null
  window so_far as (order by past_through, runs.id)
) as begun`;

const begunRun = z.object({ id: runId, place: z.number(), factsBefore: z.number() });
const begunRuns = createQuery(begunRun, `${begunOnThread} where place > $3 order by place limit 100`);

export const listBegunRuns = (
  sql: Sql,
  { accountId, threadId: thread }: ThreadAddress,
  after: number,
): Promise<readonly BegunRun[]> => begunRuns.all(sql, [thread, accountId, after]);

const newestBegunRun = createQuery(
  begunRun,
  `${begunOnThread}
where id = coalesce($3, id) and facts_before < coalesce($4::bigint, facts_before + 1)
order by place desc limit 1`,
);

/** Which of the runs that have begun is wanted. Absent: any. */
export interface WantedRun {
  readonly runId?: RunId | undefined;
  /** There are fewer facts before it. */
  readonly factsBelow?: number | undefined;
}

/** The newest one that has begun and is wanted. */
export const findNewestBegunRun = (
  sql: Sql,
  { accountId, threadId: thread }: ThreadAddress,
  { runId: id, factsBelow }: WantedRun,
): Promise<BegunRun | undefined> => newestBegunRun.first(sql, [thread, accountId, id ?? null, factsBelow ?? null]);

const begunCounts = createQuery(
  z.object({ thread_id: threadId, begun: z.number() }),
  `
select threads.id as thread_id, count(past_through)::int as begun
from threads left join runs on thread_id = threads.id
where threads.id = any($1::text[]) and deleted_at is null group by threads.id`,
);

export async function countBegunRuns(sql: Sql, threads: readonly ThreadId[]): Promise<ReadonlyMap<ThreadId, number>> {
  const rows = await begunCounts.all(sql, [threads]);
  return new Map(rows.map(({ thread_id: id, begun }) => [id, begun]));
}

const activeRun = createQuery(
  runRow.transform(toRun),
  `
select runs.* from runs join threads on threads.id = thread_id
where thread_id = $1 and runs.account_id = $2 and deleted_at is null and (holds_thread or status = 'queued')
order by holds_thread desc, runs.id limit 1`,
);

/** Each part finds its run in an index. */
const currentRun = createQuery(
  runRow.transform(toRun),
  `
select found.* from threads cross join lateral (
  (select * from runs where thread_id = $1 and account_id = $2 and holds_thread)
  union all
  (select * from runs where thread_id = $1 and account_id = $2 and not ${isMessageToRun} order by id desc limit 1)
) as found
where threads.id = $1 and deleted_at is null order by holds_thread desc limit 1`,
);

/** The run that others of the thread wait for; where there is none, the newest one that is more than a message to another. */
export const findCurrentRun = (sql: Sql, { accountId, threadId: thread }: ThreadAddress): Promise<Run | undefined> =>
  currentRun.first(sql, [thread, accountId]);

/** The run that others of the thread wait for. */
export const findActiveRun = (sql: Sql, { accountId, threadId: thread }: ThreadAddress): Promise<Run | undefined> =>
  activeRun.first(sql, [thread, accountId]);
