import {
  type AccountId,
  type AgentId,
  type EndUser,
  type ProjectId,
  type Run,
  type ThreadId,
  type UserBlock,
  agentId,
  endUser,
  finishReason,
  projectId,
  runId,
  runStatus,
  threadId,
} from '@rondo/contract';
import type { Sql } from '../database/sql';
import { toStoredText } from '../database/stored-text';
import { type MetadataFilter, hasMetadata, writeMetadata } from './metadata-filter';
import { type PageRequest, idOfCursor } from './page';
import { inputText, toPreview } from './runs/input-message';
import { runsWith } from './runs/list-runs';
import type { Audience } from './users/audience';
import { z } from 'zod';
import { createQuery, jsonDocument } from '../database/checked-query';

export interface ThreadFilter extends PageRequest {
  readonly accountId: AccountId;
  /** Only this one. */
  readonly id?: ThreadId | undefined;
  readonly projectId?: ProjectId | undefined;
  readonly user?: EndUser | undefined;
  /** Only those of this audience. */
  readonly within?: Audience | undefined;
  readonly metadata?: MetadataFilter | undefined;
  /** Words of the title, or of the input of a run, as `websearch_to_tsquery` reads them. */
  readonly words?: string | undefined;
}

/** A thread as the API shows it. */
export interface Thread {
  readonly id: ThreadId;
  readonly title: string | null;
  /** The first words of its first question. */
  readonly preview: string | null;
  readonly newest_run: NewestRun | null;
  /** The stored agent that its runs begin with. Null: the account's default. */
  readonly agent_id: AgentId | null;
  /** It stays the same. */
  readonly project_id: ProjectId | null;
  /** The person that it is of. Null: none was named. */
  readonly user: EndUser | null;
  /** It and its runs can be read without a key. */
  readonly is_public: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  /** When its title, its metadata or its sharing was last changed. */
  readonly updated_at: string;
}

export interface NewestRun extends Pick<Run, 'id' | 'status' | 'finish_reason' | 'model' | 'created_at'> {
  readonly agent_name: string | null;
}

const threadRow = z.object({
  id: threadId,
  title: z.string().nullable(),
  agent_id: agentId.nullable(),
  project_id: projectId.nullable(),
  end_user: endUser.nullable(),
  is_public: z.boolean(),
  metadata: jsonDocument<Readonly<Record<string, unknown>>>(),
  created_at: z.date(),
  updated_at: z.date(),
  preview: z.string().nullable(),
  content: jsonDocument<readonly UserBlock[]>().nullable(),
  run_id: runId.nullable(),
  status: runStatus.nullable(),
  finish_reason: finishReason.nullable(),
  model: z.string().nullable(),
  agent_name: z.string().nullable(),
  run_created_at: z.date().nullable(),
});
type ThreadRow = z.infer<typeof threadRow>;

/** The threads of the account whose titles have these words, found in an index of titles. */
const selectTitled = (words: string) => `
select id from threads
where title is not null
  and (to_tsvector('simple', title) || array_to_tsvector(array[account_id]))
    @@ (websearch_to_tsquery('simple', ${words}) && ('''' || $1::text || '''')::tsquery)
  and numnode(websearch_to_tsquery('simple', ${words})) > 0`;

const selectAsked = (words: string) => `select thread_id from runs where runs.id = any(array(${runsWith(words)}))`;

const conditions = {
  before: (value: string) => `id < ${value}`,
  id: (value: string) => `id = ${value}`,
  projectId: (value: string) => `project_id = ${value}`,
  user: (value: string) => `end_user = ${value}`,
  ofUser: (value: string) => `end_user = ${value}`,
  ofThread: (value: string) => `id = ${value}`,
  words: (value: string) => `id = any(array(${selectTitled(value)} union ${selectAsked(value)}))`,
  metadata: (value: string) => hasMetadata('metadata', value),
} as const;

type Condition = keyof typeof conditions;
const all = Object.keys(conditions) as Condition[]; // the keys of the object above

/** A message that was written to no run has no preview. Its text is read where it is short. */
const longestRead = 20_000;

/**
 * With only the conditions that are given, so that Postgres can choose an index for them. The first question is not one that
 * was withdrawn by an edit. The newest run is not one that ended because another one has read its message.
 */
function listStatement(given: readonly Condition[]) {
  const where = given.map((condition, index) => `and ${conditions[condition](`$${index + 2}`)}`);
  return createQuery(
    threadRow,
    `
with listed as (
  select id, title, agent_id, project_id, end_user, is_public, metadata, created_at,
    coalesce(updated_at, created_at) as updated_at
  from threads where account_id = $1 and deleted_at is null and not is_workspace ${where.join(' ')}
  order by id desc limit $${given.length + 2}
)
select listed.*, asked.preview, asked.content, newest.id as run_id, newest.status, newest.finish_reason, newest.model,
  newest.agent_name, newest.created_at as run_created_at
from listed
left join lateral (
  select runs.preview,
    case when runs.preview is null and octet_length(content::text) <= ${longestRead} then content end as content
  from messages left join runs on runs.id = messages.run_id
  where messages.thread_id = listed.id and type = 'user' and is_llm_message
  order by messages.seq limit 1
) as asked on true
left join lateral (
  select runs.id, status, finish_reason, model, agents.name as agent_name, runs.created_at
  from runs left join agents on agents.id = runs.agent_id
  where thread_id = listed.id and not (status = 'stopped' and started_at is null and steers is not null)
  order by runs.id desc limit 1
) as newest on true
order by listed.id desc`,
  );
}

/** Newest first; one more than the limit if there are more. */
export async function listThreads(
  sql: Sql,
  { accountId, after, limit, words, metadata, ...filter }: ThreadFilter,
): Promise<Thread[]> {
  const values: Readonly<Record<Condition, unknown>> = {
    before: after === undefined ? undefined : idOfCursor(after, threadId),
    id: filter.id,
    projectId: filter.projectId,
    user: filter.user,
    ofUser: filter.within?.user ?? undefined,
    ofThread: filter.within?.threadId ?? undefined,
    words: words && toStoredText(words),
    metadata: metadata && writeMetadata(metadata),
  };
  const given = all.filter((condition) => values[condition] !== undefined);
  const parameters = [accountId, ...given.map((condition) => values[condition]), limit + 1];
  return (await listStatement(given).all(sql, parameters)).map(toThread);
}

const toThread = (row: ThreadRow): Thread => ({
  id: row.id,
  title: row.title,
  preview: row.preview ?? readPreview(row.content),
  newest_run: toNewestRun(row),
  agent_id: row.agent_id,
  project_id: row.project_id,
  user: row.end_user,
  is_public: row.is_public,
  metadata: row.metadata,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

function readPreview(content: readonly UserBlock[] | null): string | null {
  const text = content === null ? undefined : inputText(content);
  return text === undefined ? null : toPreview(text);
}

function toNewestRun(row: ThreadRow): NewestRun | null {
  const { run_id: id, status, model, run_created_at: at, finish_reason, agent_name } = row;
  if (id === null || status === null || model === null || at === null) return null;
  return { id, status, finish_reason, model, agent_name, created_at: at.toISOString() };
}
