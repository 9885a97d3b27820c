import {
  type AccountId,
  type AgentId,
  type NewId,
  type ProjectId,
  type ThreadId,
  runId,
  threadId,
} from '@rondo/contract';
import type { Database } from '../database/database';
import { readAgent } from './agents/change-agent';
import { type PendingKey, storeResponse } from './idempotency-keys';
import { type ThreadFilter, type ThreadRow, listThreads, threadRow } from './list-threads';
import { type Page, pageOf } from './page';
import { keepProject } from './projects/project-row';
import { ThreadBusyError } from './runs/thread-busy-error';
import { type ThreadAddress, insertThread, lockThread, threadNotFound } from './thread-row';
import { z } from 'zod';
import { checked } from '../database/checked-query';

export interface Thread {
  readonly id: ThreadId;
  /** The stored agent that its runs begin with. Null: the account's default. */
  readonly agent_id: AgentId | null;
  /** It stays the same. */
  readonly project_id: ProjectId | null;
  /** It and its runs can be read without a key. */
  readonly is_public: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

export interface NewThread {
  readonly accountId: AccountId;
  readonly agentId?: AgentId | undefined;
  readonly projectId?: ProjectId | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly promised?: PendingKey<Thread> | undefined;
}

export interface ThreadChange extends ThreadAddress {
  readonly isPublic: boolean;
}

/** Not deleted, and a conversation. */
const isShown = { deletedAt: null, isWorkspace: false };

/** Threads of one account each: another account's thread does not exist (`thread_not_found`). */
export class Threads {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** Rejects with `agent_not_found` and `project_not_found`. */
  create({ accountId, agentId: agent, projectId: project, metadata, promised }: NewThread): Promise<Thread> {
    const id = threadId.parse(`thr_${this.newId()}`);
    return this.database.transaction(async (sql) => {
      if (agent !== undefined) await readAgent(sql, { accountId, agentId: agent });
      if (project !== undefined) await keepProject(sql, { accountId, projectId: project });
      const of = { agent_id: agent ?? null, project_id: project ?? null };
      const row = { id, accountId, agentId: of.agent_id, projectId: of.project_id, metadata };
      const { createdAt } = await insertThread(sql, row);
      return storeResponse(sql, promised, { id, ...of, is_public: false, metadata, created_at: createdAt });
    });
  }

  async get({ accountId, threadId: id }: ThreadAddress): Promise<Thread> {
    const row = await this.database.prisma.thread.findFirst({ where: { id, accountId, ...isShown } });
    if (!row) throw threadNotFound(id);
    return toThread(threadRow.parse(row));
  }

  /** Newest first. */
  async list(filter: ThreadFilter): Promise<Page<Thread>> {
    const rows = await listThreads(this.database.sql, filter);
    return pageOf(rows.map(toThread), filter.limit);
  }

  /** Shares it, or ends its sharing. */
  async update({ accountId, threadId: id, isPublic }: ThreadChange): Promise<Thread> {
    const where = { id, accountId, ...isShown };
    const [row] = await this.database.prisma.thread.updateManyAndReturn({ where, data: { isPublic } });
    if (!row) throw threadNotFound(id);
    return toThread(threadRow.parse(row));
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

const unfinishedRun = checked(
  z.object({ id: runId }),
  `
select id from runs where thread_id = $1 and (holds_thread or status = 'queued') order by holds_thread desc, id limit 1`,
);

const hideThread = `
with vacated as (update sandboxes set vacate_at = clock_timestamp() where thread_id = $1)
update threads set deleted_at = clock_timestamp() where id = $1`;

const toThread = ({ agentId: agent, projectId: project, isPublic, createdAt, id, metadata }: ThreadRow): Thread => ({
  id,
  agent_id: agent,
  project_id: project,
  is_public: isPublic,
  metadata,
  created_at: createdAt.toISOString(),
});
