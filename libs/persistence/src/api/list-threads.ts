import { type AccountId, type ProjectId, agentId, projectId, threadId } from '@rondo/contract';
import type { Sql } from '../database/sql';
import { type MetadataFilter, hasMetadata, writtenMetadata } from './metadata-filter';
import { type PageRequest, idOfCursor } from './page';
import { z } from 'zod';
import { checked, jsonDocument } from '../database/checked-query';

export interface ThreadFilter extends PageRequest {
  readonly accountId: AccountId;
  readonly projectId?: ProjectId | undefined;
  readonly metadata?: MetadataFilter | undefined;
}

export const threadRow = z.object({
  id: threadId,
  agentId: agentId.nullable(),
  projectId: projectId.nullable(),
  isPublic: z.boolean(),
  metadata: jsonDocument<Readonly<Record<string, unknown>>>(),
  createdAt: z.date(),
});
export type ThreadRow = z.infer<typeof threadRow>;

const conditions = {
  before: (value: string) => `id < ${value}`,
  projectId: (value: string) => `project_id = ${value}`,
  metadata: (value: string) => hasMetadata('metadata', value),
} as const;

type Condition = keyof typeof conditions;
const all = Object.keys(conditions) as Condition[]; // the keys of the object above

/** With only the conditions that are given, so that Postgres can choose an index for them. */
function listStatement(given: readonly Condition[]) {
  const where = given.map((condition, index) => `and ${conditions[condition](`$${index + 2}`)}`);
  return checked(
    threadRow,
    `select id, agent_id as "agentId", project_id as "projectId", is_public as "isPublic", metadata, created_at as "createdAt"
  from threads where account_id = $1 and deleted_at is null and not is_workspace ${where.join(' ')}
  order by id desc limit $${given.length + 2}`,
  );
}

/** Newest first; one more than the limit if there are more. */
export function listThreads(
  sql: Sql,
  { accountId, after, limit, projectId, metadata }: ThreadFilter,
): Promise<readonly ThreadRow[]> {
  const values: Readonly<Record<Condition, unknown>> = {
    before: after === undefined ? undefined : idOfCursor(after, threadId),
    projectId,
    metadata: metadata && writtenMetadata(metadata),
  };
  const given = all.filter((condition) => values[condition] !== undefined);
  return listStatement(given).all(sql, [accountId, ...given.map((condition) => values[condition]), limit + 1]);
}
