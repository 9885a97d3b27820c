import { type AccountId, type NewId, type Project, projectId, runId, threadId } from '@rondo/contract';
import { TerminalError, untitled } from '@rondo/domain';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { toStoredText } from '../../database/stored-text';
import { type PendingKey, storeResponse } from '../idempotency-keys';
import { lockAccount } from '../lock-account';
import { type Page, type PageRequest, idOfCursor, toPage } from '../page';
import { ThreadBusyError } from '../thread-row';
import { type ProjectAddress, projectNotFound, toProject, projectRow } from './project-row';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';

export interface NewProject {
  readonly accountId: AccountId;
  /** Without one it gets a placeholder, and a title after its first input. */
  readonly name?: string | undefined;
  readonly isPublic: boolean;
  /** All its threads share one workspace. */
  readonly sharesWorkspace: boolean;
  readonly promised?: PendingKey<Project> | undefined;
}

export interface ProjectChange extends ProjectAddress {
  readonly name?: string | undefined;
  readonly isPublic?: boolean | undefined;
}

/** Of one account. */
const mostProjects = 10_000;

const countProjects = createQuery(
  z.object({ count: z.number() }),
  `
select count(*)::int as count from (
  select from projects where account_id = $1 and deleted_at is null limit ${mostProjects}
) as counted`,
);

const newProject = createQuery(
  projectRow,
  `
insert into projects (id, account_id, name, name_source, is_public, workspace_id)
values ($1, $2, $3, $4, $5, $6) returning *`,
);

const newWorkspace = `
insert into threads (id, account_id, project_id, is_workspace) values ($1, $2, $3, true)`;

const oneProject = createQuery(
  projectRow,
  `select * from projects where id = $1 and account_id = $2 and deleted_at is null`,
);

const newestProjects = createQuery(
  projectRow,
  `
select * from projects where account_id = $1 and deleted_at is null and ($2::text is null or id < $2)
order by id desc limit $3`,
);

/** A name that a person gives is never replaced, so a title that is still due is not. */
const changeProject = createQuery(
  projectRow,
  `
update projects set
  name = coalesce($3, name), name_source = case when $3::text is null then name_source else 'request' end,
  title_due_at = case when $3::text is null then title_due_at end,
  is_public = coalesce($4, is_public), updated_at = clock_timestamp()
where id = $1 and account_id = $2 and deleted_at is null returning *`,
);

/** Waits for transactions that add a thread. */
const lockedProject = `select id from projects where id = $1 and account_id = $2 and deleted_at is null for update`;
const lockedThreads = createQuery(
  z.object({ id: z.string() }),
  `
select id from threads where project_id = $1 and deleted_at is null order by id for no key update`,
);
const unfinishedRun = createQuery(
  z.object({ id: runId, thread_id: threadId }),
  `
select id, thread_id from runs where thread_id = any($1::text[]) and (holds_thread or status = 'queued')
order by holds_thread desc, id limit 1`,
);

const hideProject = `
with hidden as (update threads set deleted_at = clock_timestamp() where id = any($2::text[]) returning id),
vacated as (update sandboxes set vacate_at = clock_timestamp() from hidden where thread_id = hidden.id)
update projects set deleted_at = clock_timestamp(), title_due_at = null where id = $1`;

/** Projects of one account each: another account's project does not exist (`project_not_found`). */
export class Projects {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** Rejects with `too_many_projects`. */
  create({ accountId, name, isPublic, sharesWorkspace, promised }: NewProject): Promise<Project> {
    const id = projectId.parse(`prj_${this.newId()}`);
    const workspace = sharesWorkspace ? `thr_${this.newId()}` : null;
    return this.database.transaction(async (sql) => {
      await requireFreePlace(sql, accountId);
      const named = name === undefined ? [untitled, 'placeholder'] : [toStoredText(name), 'request'];
      const row = await newProject.first(sql, [id, accountId, ...named, isPublic, workspace]);
      if (workspace !== null) await sql.query(newWorkspace, [workspace, accountId, id]);
      if (!row) throw projectNotFound(id); // an insert returns its row
      return storeResponse(sql, promised, toProject(row));
    });
  }

  async get({ accountId, projectId: id }: ProjectAddress): Promise<Project> {
    const row = await oneProject.first(this.database.sql, [id, accountId]);
    if (!row) throw projectNotFound(id);
    return toProject(row);
  }

  /** Newest first. */
  async list({ accountId, after, limit }: PageRequest & { readonly accountId: AccountId }): Promise<Page<Project>> {
    const cursor = after === undefined ? null : idOfCursor(after, projectId);
    const rows = await newestProjects.all(this.database.sql, [accountId, cursor, limit + 1]);
    return toPage(rows.map(toProject), limit);
  }

  async update({ accountId, projectId: id, name, isPublic }: ProjectChange): Promise<Project> {
    const values = [id, accountId, name === undefined ? null : toStoredText(name), isPublic ?? null];
    const row = await changeProject.first(this.database.sql, values);
    if (!row) throw projectNotFound(id);
    return toProject(row);
  }

  /** Hides the project with its threads and runs, which `Purge` deletes. Rejects with ThreadBusyError while one has an active or queued run. */
  delete({ accountId, projectId: id }: ProjectAddress): Promise<void> {
    return this.database.transaction(async (sql) => {
      const [project] = await sql.query(lockedProject, [id, accountId]);
      if (!project) throw projectNotFound(id);
      const threads = (await lockedThreads.all(sql, [id])).map((thread) => thread.id);
      const busy = await unfinishedRun.first(sql, [threads]);
      if (busy) throw new ThreadBusyError(busy.thread_id, busy.id);
      await sql.query(hideProject, [id, threads]);
    });
  }
}

async function requireFreePlace(sql: Sql, accountId: AccountId): Promise<void> {
  await lockAccount(sql, accountId);
  const row = await countProjects.first(sql, [accountId]);
  if (row === undefined || row.count < mostProjects) return;
  throw new TerminalError('too_many_projects', `An account may have ${mostProjects} projects. Delete one first.`);
}
