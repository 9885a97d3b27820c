import {
  type AccountId,
  type NewId,
  type ProjectId,
  type SandboxId,
  type ThreadId,
  projectId,
  sandboxId,
  threadId,
  accountId,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../database/database';
import type { Sql } from '../database/sql';
import { StatementBatcher } from '../database/statement-batcher';
import { toWorkspace } from '../run-log/run-row';
import { type Page, type PageRequest, idOfCursor, toPage } from './page';
import { type ThreadAddress, threadNotFound } from './thread-row';
import { z } from 'zod';
import { createQuery } from '../database/checked-query';

const placeRow = z.object({
  thread_id: threadId,
  executor_id: z.string(),
});

/** A thread's sandbox, and the executor that hosts it. */
export interface HostedSandbox {
  readonly threadId: ThreadId;
  readonly executorId: string;
}

export interface SandboxAddress {
  readonly accountId: AccountId;
  readonly sandboxId: SandboxId;
}

/** Where a run is to be: on a thread, or on a new one, of a project or of none. */
export interface RunPlace {
  readonly accountId: AccountId;
  readonly threadId?: ThreadId | undefined;
  readonly projectId?: ProjectId | undefined;
}

export interface Sandbox {
  readonly id: SandboxId;
  /** The thread that it belongs to, or that only stands for the workspace of the project. */
  readonly threadId: ThreadId;
  /** The project whose threads share it. */
  readonly projectId: ProjectId | null;
  readonly executorId: string;
  readonly createdAt: string;
}

interface SandboxRequest extends PageRequest {
  readonly accountId: AccountId;
  readonly threadId?: ThreadId | undefined;
}

const sandboxRow = placeRow.extend({
  id: sandboxId,
  project_id: projectId.nullable(),
  created_at: z.date(),
});
type Row = z.infer<typeof sandboxRow>;

const rows = `
select sandboxes.id, sandboxes.thread_id, sandboxes.executor_id, sandboxes.created_at,
  case when threads.is_workspace then threads.project_id end as project_id
from sandboxes join threads on threads.id = sandboxes.thread_id
where threads.account_id = $1 and threads.deleted_at is null`;
const oneRow = createQuery(sandboxRow, `${rows} and sandboxes.id = $2`);
const workspaceOfThread = createQuery(
  z.object({ id: threadId }),
  `
select ${toWorkspace('threads.project_id', 'threads.id')} as id from threads
where threads.id = $2 and threads.account_id = $1 and threads.deleted_at is null`,
);
const rowOfThread = createQuery(sandboxRow, `${rows} and sandboxes.thread_id = (${workspaceOfThread.text})`);
const hostOfThread = createQuery(
  z.object({ threadId, executorId: z.string(), accountId }),
  `
select thread_id as "threadId", executor_id as "executorId", account_id as "accountId"
from sandboxes join threads on threads.id = sandboxes.thread_id join accounts on accounts.id = threads.account_id
where thread_id = $1 and threads.deleted_at is null and accounts.removed_at is null`,
);
const newestRows = createQuery(
  sandboxRow,
  `${rows} and ($2::text is null or sandboxes.id < $2) order by sandboxes.id desc limit $3`,
);

/** Of a thread, or of the next one of a project. */
const workspaceOfPlace = `
select sandboxes.id from sandboxes where thread_id = coalesce(
  (select workspace_id from projects where id = $3 and account_id = $1), (${workspaceOfThread.text})
)`;

const runningIn = createQuery(
  z.object({ id: z.string() }),
  `
select runs.id from sandboxes
  join threads on threads.id = sandboxes.thread_id
  join runs on runs.account_id = threads.account_id and runs.finished_at is null
where sandboxes.id = $2 and threads.account_id = $1 and threads.deleted_at is null and runs.status in ('running', 'stopping')
  and ${toWorkspace('runs.project_id', 'runs.thread_id')} = sandboxes.thread_id
limit 1`,
);

const executorsOfAccount = createQuery(
  z.object({ executor_id: z.string() }),
  `
select distinct sandboxes.executor_id from sandboxes join threads on threads.id = sandboxes.thread_id
where threads.account_id = $1 and threads.deleted_at is null`,
);
const selectOwned = createQuery(
  z.object({ threadId }),
  `
select id as "threadId" from threads where account_id = $1 and deleted_at is null and id = any($2::text[])`,
);

/** Returns the stored host, which may be another one: the update on conflict changes nothing and returns the row. */
const upsertHosts = createQuery(
  placeRow,
  `
insert into sandboxes (id, thread_id, executor_id)
select distinct on (thread_id) *
from unnest($1::text[], $2::text[], $3::text[]) as offer (id, thread_id, executor_id) order by thread_id
on conflict (thread_id) do update set thread_id = excluded.thread_id
returning thread_id, executor_id`,
);

/** Returned again after a minute, since the executor may be down. */
const lockDeleted = createQuery(
  z.object({ threadId, executorId: z.string() }),
  `
update sandboxes set vacate_at = clock_timestamp() + interval '1 minute'
where id in (
  select id from sandboxes where vacate_at <= clock_timestamp() order by vacate_at limit 100 for update skip locked
)
returning thread_id as "threadId", executor_id as "executorId"`,
);

const deleteRemoved = `delete from sandboxes where thread_id = any($1::text[]) and vacate_at is not null`;

/** Makes an executor the host of a new thread's workspace. */
export async function hostWorkspace(sql: Sql, newId: NewId, place: HostedSandbox): Promise<void> {
  await keep(sql, newId, [place]);
}

/** Which executor hosts which thread's sandbox. A claim contains the host of its thread. */
export class Sandboxes {
  private readonly kept: StatementBatcher<HostedSandbox, string>;

  constructor(
    private readonly database: Database,
    newId: NewId,
  ) {
    this.kept = new StatementBatcher((offers) => keep(database.sql, newId, offers));
  }

  /** Assigns the thread to this executor unless it has one. Resolves to the thread's executor. */
  keep(threadId: ThreadId, executorId: string): Promise<string> {
    return this.kept.of({ threadId, executorId });
  }

  /** Another account's sandbox does not exist: `sandbox_not_found`. */
  async get({ accountId, sandboxId: id }: SandboxAddress): Promise<Sandbox> {
    const row = await oneRow.first(this.database.sql, [accountId, id]);
    if (!row) throw new TerminalError('sandbox_not_found', `There is no sandbox ${id}.`);
    return toSandbox(row);
  }

  /** A run that is at work in the sandbox, so not one that waits. */
  async runningRun({ accountId, sandboxId: id }: SandboxAddress): Promise<string | undefined> {
    const row = await runningIn.first(this.database.sql, [accountId, id]);
    return row?.id;
  }

  /** The thread that has the workspace of this one: itself, unless the threads of its project share one. Rejects with `thread_not_found`. */
  async readWorkspace({ accountId, threadId: id }: ThreadAddress): Promise<ThreadId> {
    const row = await workspaceOfThread.first(this.database.sql, [accountId, id]);
    if (!row) throw threadNotFound(id);
    return row.id;
  }

  /** That of its workspace. */
  async ofThread(accountId: AccountId, thread: ThreadId): Promise<Sandbox | undefined> {
    const row = await rowOfThread.first(this.database.sql, [accountId, thread]);
    return row && toSandbox(row);
  }

  /** Whether runs in this place use a workspace that exists already. */
  async hasWorkspace({ accountId, threadId: thread, projectId: project }: RunPlace): Promise<boolean> {
    const found = await this.database.sql.query(workspaceOfPlace, [accountId, thread ?? null, project ?? null]);
    return found.length > 0;
  }

  /** The executors that have sandboxes of the account. */
  async readExecutors(accountId: AccountId): Promise<string[]> {
    const found = await executorsOfAccount.all(this.database.sql, [accountId]);
    return found.map(({ executor_id }) => executor_id);
  }

  /** Those of the threads that are the account's, and not deleted. */
  async findOwned(accountId: AccountId, threads: readonly ThreadId[]): Promise<ReadonlySet<string>> {
    const owned = await selectOwned.all(this.database.sql, [accountId, threads]);
    return new Set(owned.map(({ threadId }) => threadId));
  }

  /** Of any account: for clients whose right to the sandbox is not an API key. */
  async hosting(thread: string): Promise<(HostedSandbox & { readonly accountId: AccountId }) | undefined> {
    return hostOfThread.first(this.database.sql, [thread]);
  }

  /** Newest first. With a thread only the sandbox that it has, if it has one. */
  async list({ accountId, after, limit, threadId }: SandboxRequest): Promise<Page<Sandbox>> {
    if (threadId !== undefined) {
      const sandbox = await this.ofThread(accountId, threadId);
      return toPage(sandbox ? [sandbox] : [], limit);
    }
    const cursor = after === undefined ? null : idOfCursor(after, sandboxId);
    const found = await newestRows.all(this.database.sql, [accountId, cursor, limit + 1]);
    return toPage(found.map(toSandbox), limit);
  }

  /** Some sandboxes of deleted threads. The caller has their workspaces deleted and then calls `forget`. */
  claimDeleted(): Promise<readonly HostedSandbox[]> {
    return lockDeleted.all(this.database.sql);
  }

  async forget(threads: readonly ThreadId[]): Promise<void> {
    if (threads.length > 0) await this.database.sql.query(deleteRemoved, [threads]);
  }
}

async function keep(sql: Sql, newId: NewId, offers: readonly HostedSandbox[]): Promise<readonly string[]> {
  const columns = [
    offers.map(() => `sbx_${newId()}`),
    offers.map(({ threadId }) => threadId),
    offers.map(({ executorId }) => executorId),
  ];
  const places = await upsertHosts.all(sql, columns);
  const kept = new Map(places.map(({ thread_id, executor_id }) => [thread_id, executor_id]));
  return offers.map(({ threadId, executorId }) => kept.get(threadId) ?? executorId);
}

const toSandbox = ({ id, thread_id, project_id, executor_id, created_at }: Row): Sandbox => ({
  id,
  threadId: thread_id,
  projectId: project_id,
  executorId: executor_id,
  createdAt: created_at.toISOString(),
});
