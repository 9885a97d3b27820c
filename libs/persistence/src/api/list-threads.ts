import { type AccountId, type ProjectId, threadId } from '@rondo/contract';
import type { Sql } from '../database/sql';
import { type MetadataFilter, hasMetadata, writtenMetadata } from './metadata-filter';
import { type PageRequest, idOfCursor } from './page';

export interface ThreadFilter extends PageRequest {
  readonly accountId: AccountId;
  readonly projectId?: ProjectId | undefined;
  readonly metadata?: MetadataFilter | undefined;
}

const conditions = {
  before: (value: string) => `id < ${value}`,
  projectId: (value: string) => `project_id = ${value}`,
  metadata: (value: string) => hasMetadata('metadata', value),
} as const;

type Condition = keyof typeof conditions;
const all = Object.keys(conditions) as Condition[]; // the keys of the object above

/** With only the conditions that are given, so that Postgres can choose an index for them. */
function listStatement(given: readonly Condition[]): string {
  const where = given.map((condition, index) => `and ${conditions[condition](`$${index + 2}`)}`);
  return `select id, agent_id as "agentId", project_id as "projectId", is_public as "isPublic", metadata, created_at as "createdAt"
  from threads where account_id = $1 and deleted_at is null and not is_workspace ${where.join(' ')}
  order by id desc limit $${given.length + 2}`;
}

/** Newest first; one more than the limit if there are more. */
export function listThreads<Row extends object>(
  sql: Sql,
  { accountId, after, limit, projectId, metadata }: ThreadFilter,
): Promise<readonly Row[]> {
  const values: Readonly<Record<Condition, unknown>> = {
    before: after === undefined ? undefined : idOfCursor(after, threadId),
    projectId,
    metadata: metadata && writtenMetadata(metadata),
  };
  const given = all.filter((condition) => values[condition] !== undefined);
  return sql.query<Row>(listStatement(given), [accountId, ...given.map((condition) => values[condition]), limit + 1]);
}
