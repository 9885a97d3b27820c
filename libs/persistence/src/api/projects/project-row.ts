import { type AccountId, type Project, type ProjectId, nameSource, projectId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Sql } from '../../database/sql';
import { z } from 'zod';

export interface ProjectAddress {
  readonly accountId: AccountId;
  readonly projectId: ProjectId;
}

export const projectRow = z.object({
  id: projectId,
  name: z.string(),
  name_source: nameSource,
  is_public: z.boolean(),
  workspace_id: z.string().nullable(),
  created_at: z.date(),
  updated_at: z.date(),
});
export type ProjectRow = z.infer<typeof projectRow>;

export const toProject = (row: ProjectRow): Project => ({
  id: row.id,
  name: row.name,
  name_source: row.name_source,
  is_public: row.is_public,
  sandbox: row.workspace_id === null ? 'thread' : 'project',
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const projectNotFound = (id: ProjectId): TerminalError =>
  new TerminalError('project_not_found', `There is no project ${id}.`);

/** Does not wait for a change of the project, but for its deletion. */
const keptProject = `select id from projects where id = $1 and account_id = $2 and deleted_at is null for key share`;

/** Until the transaction ends the project cannot be deleted, so that a thread can be added to it. */
export async function keepProject(sql: Sql, { accountId, projectId: id }: ProjectAddress): Promise<void> {
  const [kept] = await sql.query(keptProject, [id, accountId]);
  if (!kept) throw projectNotFound(id);
}
