import { type AccountId, type AgentId, type NewId, type ThreadId, agentId, runId, threadId } from '@rondo/contract';
import type { Database } from '../database/database';
import type { Thread as Row } from '../generated/client';
import { readAgent } from './agents/change-agent';
import { type PendingKey, storeResponse } from './idempotency-keys';
import { type Page, type PageRequest, idOfCursor, pageOf } from './page';
import { ThreadBusyError } from './runs/thread-busy-error';
import { type ThreadAddress, insertThread, lockThread, threadNotFound } from './thread-row';

export interface Thread {
  readonly id: ThreadId;
  /** The stored agent that its runs begin with. Null: the account's default. */
  readonly agent_id: AgentId | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

export interface NewThread {
  readonly accountId: AccountId;
  readonly agentId?: AgentId | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly promised?: PendingKey<Thread> | undefined;
}

/** Threads of one account each: another account's thread does not exist (`thread_not_found`). */
export class Threads {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** Rejects with `agent_not_found`. */
  create({ accountId, agentId: agent, metadata, promised }: NewThread): Promise<Thread> {
    const id = threadId.parse(`thr_${this.newId()}`);
    return this.database.transaction(async (sql) => {
      if (agent !== undefined) await readAgent(sql, { accountId, agentId: agent });
      const agent_id = agent ?? null;
      const { createdAt } = await insertThread(sql, { id, accountId, agentId: agent_id, metadata });
      return storeResponse(sql, promised, { id, agent_id, metadata, created_at: createdAt });
    });
  }

  async get({ accountId, threadId: id }: ThreadAddress): Promise<Thread> {
    const row = await this.database.prisma.thread.findFirst({ where: { id, accountId, deletedAt: null } });
    if (!row) throw threadNotFound(id);
    return threadOf(row);
  }

  /** Newest first. */
  async list({ accountId, after, limit }: PageRequest & { accountId: AccountId }): Promise<Page<Thread>> {
    const rows = await this.database.prisma.thread.findMany({
      where: { accountId, deletedAt: null, ...(after !== undefined && { id: { lt: idOfCursor(after, threadId) } }) },
      orderBy: { id: 'desc' },
      take: limit + 1,
    });
    return pageOf(rows.map(threadOf), limit);
  }

  /** Hides the thread and its runs, which `Purge` deletes, and releases its sandbox. Rejects with ThreadBusyError while it has an active or queued run. */
  delete(address: ThreadAddress): Promise<void> {
    return this.database.transaction(async (sql) => {
      await lockThread(sql, address);
      const [active] = await sql.query<{ id: string }>(unfinishedRun, [address.threadId]);
      if (active) throw new ThreadBusyError(address.threadId, runId.parse(active.id));
      await sql.query(hideThread, [address.threadId]);
    });
  }
}

const unfinishedRun = `
select id from runs where thread_id = $1 and (holds_thread or status = 'queued') order by holds_thread desc, id limit 1`;

const hideThread = `
with vacated as (update sandboxes set vacate_at = clock_timestamp() where thread_id = $1)
update threads set deleted_at = clock_timestamp() where id = $1`;

const threadOf = ({ id, agentId: agent, metadata, createdAt }: Row): Thread => ({
  id: threadId.parse(id),
  agent_id: agent === null ? null : agentId.parse(agent),
  metadata: metadata as Thread['metadata'], // only insertThread writes it
  created_at: createdAt.toISOString(),
});
