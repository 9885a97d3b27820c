import {
  type AccountId,
  type AgentId,
  type EndUser,
  type MemoryStore,
  type MemoryStoreId,
  type ProjectId,
  type ThreadId,
  memoryStore,
  memoryStoreId,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { toStoredText } from '../../database/stored-text';
import { agentNotFound } from '../agents/agent-row';
import { lockAccount } from '../lock-account';
import { type Page, type PageRequest, idOfCursor, toPage } from '../page';
import { keepProject } from '../projects/project-row';

export interface MemoryStoreAddress {
  readonly accountId: AccountId;
  readonly memoryStoreId: MemoryStoreId;
}

export type NewMemoryStore = Pick<MemoryStore, 'name' | 'description' | 'project_id' | 'agent_id' | 'user'>;

/** Where a run is, as far as it is known before it exists. */
interface RunPlace {
  readonly accountId: AccountId;
  readonly threadId?: ThreadId | undefined;
  readonly projectId?: ProjectId | undefined;
  readonly agentId?: AgentId | undefined;
  readonly user?: EndUser | undefined;
}

interface StoreFilter extends PageRequest {
  readonly accountId: AccountId;
  readonly name?: string | undefined;
  readonly project_id?: ProjectId | undefined;
  readonly agent_id?: AgentId | undefined;
  readonly user?: EndUser | undefined;
}

/** The most stores of one account. */
const mostStores = 1_000;

const storeRow = memoryStore.extend({ created_at: z.date(), updated_at: z.date() });

const columns = `id, name, description, project_id, agent_id, end_user as user, size, created_at, updated_at,
  (select count(*) from memory_entries where store_id = memory_stores.id)::int as entry_count`;

const oneStore = createQuery(storeRow, `select ${columns} from memory_stores where account_id = $1 and id = $2`);
const newestStores = createQuery(
  storeRow,
  `
select ${columns} from memory_stores
where account_id = $1 and ($2::text is null or id < $2) and ($4::text is null or name = $4)
  and ($5::text is null or project_id = $5) and ($6::text is null or agent_id = $6) and ($7::text is null or end_user = $7)
order by id desc limit $3`,
);

const storesOfRun = createQuery(
  storeRow,
  `
select distinct on (name) ${columns} from memory_stores
left join (select project_id as its_project, end_user as its_user from threads where account_id = $1 and threads.id = $3) as thread
  on true
where account_id = $1 and name = any($2)
  and (project_id is null or project_id = coalesce(its_project, $4)) and (agent_id is null or agent_id = $5)
  and (end_user is null or end_user = coalesce(its_user, $6))
order by name, end_user is null, agent_id is null, project_id is null`,
);

const countStores = createQuery(
  z.object({ count: z.number() }),
  `select count(*)::int as count from memory_stores where account_id = $1`,
);
const keptAgent = `select id from agents where account_id = $1 and id = $2 for key share`;
const insertStore = `
insert into memory_stores (id, account_id, name, description, project_id, agent_id, end_user)
values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning id`;
const deleteStore = `delete from memory_stores where account_id = $1 and id = $2 returning id`;

/** The memory stores of one account each: another account's store does not exist (`memory_store_not_found`). */
export class MemoryStores {
  constructor(
    private readonly database: Database,
    private readonly newId: () => string,
  ) {}

  /** Rejects with `memory_store_name_taken`, `memory_quota_exceeded`, `project_not_found` and `agent_not_found`. */
  create(accountId: AccountId, given: NewMemoryStore): Promise<MemoryStore> {
    return this.database.transaction(async (sql) => {
      await lockAccount(sql, accountId);
      await requireFreePlace(sql, accountId);
      const { name, description, project_id: project, agent_id: agent, user } = given;
      if (project !== null) await keepProject(sql, { accountId, projectId: project });
      if (agent !== null && (await sql.query(keptAgent, [accountId, agent])).length === 0) throw agentNotFound(agent);
      const id = memoryStoreId.parse(`mem_${this.newId()}`);
      const values = [id, accountId, name, toStoredText(description), project, agent, user];
      if ((await sql.query(insertStore, values)).length === 0)
        throw new TerminalError('memory_store_name_taken', `There is a memory store ${name} already.`);
      return readStore(sql, { accountId, memoryStoreId: id });
    });
  }

  get(address: MemoryStoreAddress): Promise<MemoryStore> {
    return readStore(this.database.sql, address);
  }

  /** Newest first. */
  async list({ accountId, after, limit, ...filter }: StoreFilter): Promise<Page<MemoryStore>> {
    const { name, project_id: project, agent_id: agent, user } = filter;
    const cursor = after === undefined ? null : idOfCursor(after, memoryStoreId);
    const only = [name, project, agent, user].map((value) => value ?? null);
    const rows = await newestStores.all(this.database.sql, [accountId, cursor, limit + 1, ...only]);
    return toPage(rows.map(toStore), limit);
  }

  /** Those that a run there can mean by these names. */
  async findForRun(
    { accountId, threadId, projectId, agentId, user }: RunPlace,
    names: readonly string[],
  ): Promise<readonly MemoryStore[]> {
    const place = [threadId, projectId, agentId, user].map((value) => value ?? null);
    return (await storesOfRun.all(this.database.sql, [accountId, names, ...place])).map(toStore);
  }

  /** Deletes the store with its entries. */
  async delete({ accountId, memoryStoreId: id }: MemoryStoreAddress): Promise<void> {
    const deleted = await this.database.sql.query(deleteStore, [accountId, id]);
    if (deleted.length === 0) throw memoryStoreNotFound(id);
  }
}

async function requireFreePlace(sql: Sql, accountId: AccountId): Promise<void> {
  const row = await countStores.first(sql, [accountId]);
  if (row === undefined || row.count < mostStores) return;
  throw new TerminalError('memory_quota_exceeded', `An account may have ${mostStores} memory stores.`);
}

async function readStore(sql: Sql, { accountId, memoryStoreId: id }: MemoryStoreAddress): Promise<MemoryStore> {
  const row = await oneStore.first(sql, [accountId, id]);
  if (!row) throw memoryStoreNotFound(id);
  return toStore(row);
}

const toStore = (row: z.infer<typeof storeRow>): MemoryStore => ({
  ...row,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const memoryStoreNotFound = (id: MemoryStoreId): TerminalError =>
  new TerminalError('memory_store_not_found', `There is no memory store ${id}.`);
