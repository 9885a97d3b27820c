import {
  type AccountId,
  type AgentId,
  type EndUser,
  type FinishReason,
  type ProjectId,
  type Run,
  type RunId,
  type RunStatus,
  type ThreadId,
  runId,
  runStatus,
} from '@rondo/contract';
import type { Sql } from '../../database/sql';
import { toStoredText } from '../../database/stored-text';
import { toRun, runRow } from '../../run-log/run-row';
import { type MetadataFilter, hasMetadata, writeMetadata } from '../metadata-filter';
import { BoundedList, type Page, type PageRequest, idOfCursor } from '../page';
import type { Audience } from '../users/audience';
import { isMessageToRun } from './tell-run';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';

export interface RunFilter extends PageRequest {
  readonly accountId: AccountId;
  readonly statuses?: readonly RunStatus[] | undefined;
  readonly finishReasons?: readonly FinishReason[] | undefined;
  readonly model?: string | undefined;
  readonly threadId?: ThreadId | undefined;
  readonly agentId?: AgentId | undefined;
  readonly parentRunId?: RunId | undefined;
  /** Whether it is only a message that a run at work has read, or may still read. */
  readonly isMessage?: boolean | undefined;
  readonly projectId?: ProjectId | undefined;
  readonly user?: EndUser | undefined;
  /** Only those of this audience. */
  readonly within?: Audience | undefined;
  readonly metadata?: MetadataFilter | undefined;
  /** Words of the input, as `websearch_to_tsquery` reads them. */
  readonly words?: string | undefined;
  readonly createdFrom?: string | undefined;
  readonly createdBefore?: string | undefined;
}

/** An array of them is looked up first. The account is one of the indexed words; a search without any word finds nothing. */
export const runsWith = (words: string) => `
select run_id from run_inputs
where (to_tsvector('simple', text) || array_to_tsvector(array[account_id]))
    @@ (websearch_to_tsquery('simple', ${words}) && ('''' || $1::text || '''')::tsquery)
  and numnode(websearch_to_tsquery('simple', ${words})) > 0`;

const conditions = {
  before: (value: string) => `runs.id < ${value}`,
  statuses: (value: string) => `status = any(${value}::text[])`,
  finishReasons: (value: string) => `finish_reason = any(${value}::text[])`,
  model: (value: string) => `runs.model = ${value}`,
  threadId: (value: string) => `thread_id = ${value}`,
  agentId: (value: string) => `runs.agent_id = ${value}`,
  projectId: (value: string) => `runs.project_id = ${value}`,
  user: (value: string) => `runs.end_user = ${value}`,
  ofUser: (value: string) => `runs.end_user = ${value}`,
  ofThread: (value: string) => `thread_id = ${value}`,
  words: (value: string) => `runs.id = any(array(${runsWith(value)}))`,
  parentRunId: (value: string) => `runs.parent_run_id = ${value}`,
  isMessage: (value: string) => `${isMessageToRun} = ${value}::boolean`,
  metadata: (value: string) => hasMetadata('runs.metadata', value),
  createdFrom: (value: string) => `runs.created_at >= ${value}::timestamptz`,
  createdBefore: (value: string) => `runs.created_at < ${value}::timestamptz`,
} as const;

type Condition = keyof typeof conditions;
const all = Object.keys(conditions) as Condition[]; // the keys of the object above

/** Asks only by the conditions that are given, so that Postgres can choose an index for them. */
export function listStatement(given: readonly Condition[]): string {
  const where = given.map((condition, index) => `and ${conditions[condition](`$${index + 2}`)}`);
  return `select runs.* from runs join threads on threads.id = thread_id
  where runs.account_id = $1 and deleted_at is null ${where.join(' ')}
  order by runs.id desc limit $${given.length + 2}`;
}

const bounds = {
  order: 'id desc',
  length: `octet_length(settings::text) + octet_length(metadata::text) + coalesce(octet_length(queued_input::text), 0)
    + coalesce(octet_length(error::text), 0) + coalesce(octet_length(waiting::text), 0)`,
};

/** One per set of conditions that was asked for. */
const lists = new Map<string, BoundedList<Run>>();

function findList(given: readonly Condition[]): BoundedList<Run> {
  const key = given.join();
  const known = lists.get(key) ?? new BoundedList(listStatement(given), bounds, runRow.transform(toRun));
  lists.set(key, known);
  return known;
}

/** Newest first. */
export async function listRuns(
  sql: Sql,
  { accountId, after, limit, metadata, ...rest }: RunFilter,
): Promise<Page<Run>> {
  const values: Readonly<Record<Condition, unknown>> = {
    before: after === undefined ? undefined : idOfCursor(after, runId),
    statuses: rest.statuses,
    finishReasons: rest.finishReasons,
    model: rest.model && toStoredText(rest.model),
    threadId: rest.threadId,
    agentId: rest.agentId,
    projectId: rest.projectId,
    user: rest.user,
    ofUser: rest.within?.user ?? undefined,
    ofThread: rest.within?.threadId ?? undefined,
    words: rest.words && toStoredText(rest.words),
    parentRunId: rest.parentRunId,
    isMessage: rest.isMessage,
    metadata: metadata && writeMetadata(metadata),
    createdFrom: rest.createdFrom,
    createdBefore: rest.createdBefore,
  };
  const given = all.filter((condition) => values[condition] !== undefined);
  return findList(given).page(sql, [accountId, ...given.map((condition) => values[condition])], limit);
}

export type RunCounts = Readonly<Record<RunStatus, number>>;

export interface CountFilter {
  readonly accountId: AccountId;
  readonly threadId?: ThreadId | undefined;
  readonly agentId?: AgentId | undefined;
  readonly projectId?: ProjectId | undefined;
}

const runCount = z.object({
  status: runStatus,
  runs: z.number(),
});

/** Unfinished runs are few; finished ones are counted in an index. Runs of deleted threads are not counted. */
const countWhere = (condition: string) => `
select status, sum(runs)::int as runs from (
  select status, count(*) as runs from runs
  where account_id = $1 and finished_at is null and ($2::text is null or thread_id = $2)
    and ($3::text is null or agent_id = $3) ${condition}
    and not exists (select from threads where threads.id = thread_id and deleted_at is not null)
  group by status
  union all
  select status, count(*) from runs
  where account_id = $1 and finished_at is not null and ($2::text is null or thread_id = $2)
    and ($3::text is null or agent_id = $3) ${condition}
    and not (thread_id = any(array(select id from threads where deleted_at is not null)))
  group by status
) as counted group by status`;
export const countStatement = createQuery(runCount, countWhere(''));
/** For itself, since runs that have no project are counted in an index without the column. */
const countOfProject = createQuery(runCount, countWhere('and project_id = $4'));

/** How many runs there are in each status. */
export async function countRuns(sql: Sql, { accountId, ...filter }: CountFilter): Promise<RunCounts> {
  const { threadId, agentId, projectId } = filter;
  const values = [accountId, threadId ?? null, agentId ?? null];
  const rows = await (projectId === undefined
    ? countStatement.all(sql, values)
    : countOfProject.all(sql, [...values, projectId]));
  const none = Object.fromEntries(runStatus.options.map((status) => [status, 0])) as Record<RunStatus, number>; // each status
  return { ...none, ...Object.fromEntries(rows.map(({ status, runs }) => [status, runs])) };
}
