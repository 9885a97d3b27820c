import {
  type AccountId,
  type AgentId,
  type EndUser,
  type NewId,
  type ProjectId,
  runId,
  threadId,
} from '@rondo/contract';
import type { Database } from '../database/database';
import { type QuotaBounds, writeWithin } from './billing/quota-bounds';
import { readAgent } from './agents/change-agent';
import { type PendingKey, storeResponse } from './idempotency-keys';
import { type Thread, type ThreadFilter, listThreads } from './list-threads';
import { type Page, toPage } from './page';
import { keepProject } from './projects/project-row';
import { type ThreadAddress, insertThread, lockThread, ThreadBusyError, threadNotFound } from './thread-row';
import { z } from 'zod';
import { createQuery } from '../database/checked-query';
import type { Sql } from '../database/sql';
import { toStoredText } from '../database/stored-text';

export interface NewThread {
  readonly accountId: AccountId;
  readonly title?: string | undefined;
  readonly agentId?: AgentId | undefined;
  readonly projectId?: ProjectId | undefined;
  readonly user?: EndUser | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly promised?: PendingKey<Thread> | undefined;
  readonly bounds?: QuotaBounds | undefined;
}

export interface ThreadChange extends ThreadAddress {
  /** Null removes it. */
  readonly title?: string | null | undefined;
  readonly isPublic?: boolean | undefined;
  /** Replaces all of it. */
  readonly metadata?: Thread['metadata'] | undefined;
}

/** Threads of one account each: another account's thread does not exist (`thread_not_found`). */
export class Threads {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** Rejects with `agent_not_found` and `project_not_found`, and with QuotaReached. */
  create(wanted: NewThread): Promise<Thread> {
    return this.database.transaction((sql) => writeWithin(sql, wanted, () => this.insert(sql, wanted)));
  }

  private async insert(sql: Sql, wanted: NewThread): Promise<Thread> {
    const { accountId, title, agentId: agent, projectId: project, user = null, metadata, promised } = wanted;
    const id = threadId.parse(`thr_${this.newId()}`);
    if (agent !== undefined) await readAgent(sql, { accountId, agentId: agent });
    if (project !== undefined) await keepProject(sql, { accountId, projectId: project });
    const of = { agent_id: agent ?? null, project_id: project ?? null };
    const named = { title: title === undefined ? null : toStoredText(title) };
    const row = { id, accountId, ...named, agentId: of.agent_id, projectId: of.project_id, user, metadata };
    const { createdAt } = await insertThread(sql, row);
    const begun = { id, ...named, preview: null, newest_run: null, ...of, user };
    return storeResponse(sql, promised, {
      ...begun,
      is_public: false,
      metadata,
      created_at: createdAt,
      updated_at: createdAt,
    });
  }

  async get({ accountId, threadId: id }: ThreadAddress): Promise<Thread> {
    const [thread] = await listThreads(this.database.sql, { accountId, id, limit: 1 });
    if (!thread) throw threadNotFound(id);
    return thread;
  }

  /** Newest first. */
  async list(filter: ThreadFilter): Promise<Page<Thread>> {
    return toPage(await listThreads(this.database.sql, filter), filter.limit);
  }

  /** What is undefined stays as it is. */
  async update({ accountId, threadId: id, title, isPublic, metadata }: ThreadChange): Promise<Thread> {
    const named = [title !== undefined, title ? toStoredText(title) : null];
    const values = [...named, isPublic ?? null, metadata === undefined ? null : JSON.stringify(metadata)];
    await this.database.sql.query(changeThread, [id, accountId, ...values]);
    return this.get({ accountId, threadId: id });
  }

  /** What `change` throws leaves it as it is. Two changes at a time happen one after the other. */
  async changeMetadata(
    address: ThreadAddress,
    change: (stored: Thread['metadata']) => Thread['metadata'],
  ): Promise<Thread> {
    await this.database.transaction(async (sql) => {
      await lockThread(sql, address);
      const [thread] = await listThreads(sql, { accountId: address.accountId, id: address.threadId, limit: 1 });
      if (thread) await sql.query(setMetadata, [address.threadId, JSON.stringify(change(thread.metadata))]);
    });
    return this.get(address);
  }

  /** Hides the thread and its runs, which `Purge` deletes, and releases its sandbox. Rejects with ThreadBusyError while it has an active or queued run. */
  delete(address: ThreadAddress): Promise<void> {
    return this.database.transaction(async (sql) => {
      await lockThread(sql, address);
      const active = await unfinishedRun.first(sql, [address.threadId]);
      if (active) throw new ThreadBusyError(address.threadId, active.id);
      await sql.query(hideThread, [address.threadId]);
    });
  }
}

const unfinishedRun = createQuery(
  z.object({ id: runId }),
  `
select id from runs where thread_id = $1 and (holds_thread or status = 'queued') order by holds_thread desc, id limit 1`,
);

const changeThread = `
update threads set
  title = case when $3::boolean then $4::text else title end,
  is_public = coalesce($5::boolean, is_public),
  metadata = coalesce($6::json, metadata),
  updated_at = clock_timestamp()
where id = $1 and account_id = $2 and deleted_at is null and not is_workspace`;

const setMetadata = `update threads set metadata = $2, updated_at = clock_timestamp() where id = $1`;

const hideThread = `
with vacated as (update sandboxes set vacate_at = clock_timestamp() where thread_id = $1)
update threads set deleted_at = clock_timestamp() where id = $1`;
