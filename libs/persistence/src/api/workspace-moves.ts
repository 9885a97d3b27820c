import { type CallId, type ThreadId, threadId } from '@rondo/contract';
import type { Database } from '../database/database';
import { z } from 'zod';
import { createQuery } from '../database/checked-query';

/** The workspace of a thread, the lost executor that hosts it, and the executor that is to host it. */
export interface WorkspaceMove {
  readonly threadId: ThreadId;
  readonly from: string;
  readonly to: string;
  /** Calls that were recorded as sent, and were certainly not sent yet. */
  readonly unsent: readonly CallId[];
}

/** The executor that hosts a workspace now, and the one that is about to. */
export interface WorkspacePlace {
  readonly executorId: string;
  readonly movingTo: string | null;
}

/** Of the threads that an executor has asked about: those whose workspaces it does not host, and for how long the others. */
export interface WorkspaceHosting {
  /** When this was so, by the clock that says since when they are hosted. */
  readonly at?: string;
  /** They do not exist. */
  readonly deleted: readonly ThreadId[];
  /** Another executor hosts them. */
  readonly moved: readonly ThreadId[];
  /** It hosts them since before the time that it asked about, if it did. */
  readonly hostedBefore?: readonly ThreadId[];
}

/**
 * The lost executor may have got these calls, and only its records in NATS say what became of them: they are settled before
 * the workspace moves. A workspace that the threads of a project share has calls of several runs.
 */
const openCall = `
select from tool_calls join runs on runs.id = tool_calls.run_id
where runs.holds_thread and tool_calls.status = 'dispatched' and tool_calls.id <> all($4::text[]) and runs.thread_id in (
  select $1::text union all
  select threads.id from threads as workspace
    join threads on threads.account_id = workspace.account_id and threads.project_id = workspace.project_id
  where workspace.id = $1 and workspace.is_workspace
)`;

const begin = `
update sandboxes set moving_to = $3 where thread_id = $1 and executor_id = $2 and not exists (${openCall})
returning thread_id`;
const complete = `
update sandboxes set executor_id = $3, moving_to = null
where thread_id = $1 and executor_id = $2 and moving_to = $3 and not exists (${openCall})
returning thread_id`;
const cancel = `update sandboxes set moving_to = null where thread_id = $1 and executor_id = $2`;
const selectPlace = createQuery(
  z.object({ executorId: z.string(), movingTo: z.string().nullable() }),
  `
select executor_id as "executorId", moving_to as "movingTo" from sandboxes where thread_id = $1`,
);

/** That it asks shows that the executor is there, so what is being moved away from it stays. */
const stay = `
update sandboxes set moving_to = null where thread_id = any($2::text[]) and executor_id = $1 and moving_to is not null`;
const selectHosting = createQuery(
  z.object({ thread_id: threadId, is_deleted: z.boolean() }),
  `
select asked.id as thread_id, threads.id is null as is_deleted
from unnest($2::text[]) as asked (id)
  left join threads on threads.id = asked.id left join sandboxes on sandboxes.thread_id = asked.id
where threads.id is null or (sandboxes.executor_id <> $1 and sandboxes.moving_to is distinct from $1)`,
);

const selectHostedBefore = createQuery(
  z.object({ thread_id: threadId }),
  `
select thread_id from sandboxes where thread_id = any($2::text[]) and executor_id = $1 and created_at < $3`,
);

const clock = createQuery(z.object({ now: z.date() }), `select clock_timestamp() as now`);

/**
 * Changes which executor hosts the workspace of a thread, once the former one is lost. Each step may be repeated by any worker:
 * the row says who hosts the workspace, and an executor that comes back before the last step keeps it.
 */
export class WorkspaceMoves {
  constructor(private readonly database: Database) {}

  /** False while the lost executor may have got a call that is not settled yet, and where it does not host the workspace. */
  async begin({ threadId, from, to, unsent }: WorkspaceMove): Promise<boolean> {
    return (await this.database.sql.query(begin, [threadId, from, to, unsent])).length > 0;
  }

  /** False where the former executor has come back meanwhile, or another move was faster. */
  async complete({ threadId, from, to, unsent }: WorkspaceMove): Promise<boolean> {
    return (await this.database.sql.query(complete, [threadId, from, to, unsent])).length > 0;
  }

  async cancel({ threadId, from }: Pick<WorkspaceMove, 'threadId' | 'from'>): Promise<void> {
    await this.database.sql.query(cancel, [threadId, from]);
  }

  async toPlace(threadId: ThreadId): Promise<WorkspacePlace | undefined> {
    const place = await selectPlace.first(this.database.sql, [threadId]);
    return place;
  }

  /** Answers an executor that has started, or was away. From now on, what it hosts is not moved until it is away again. */
  readHosting(executorId: string, threads: readonly ThreadId[], before?: string): Promise<WorkspaceHosting> {
    return this.database.transaction(async (sql) => {
      await sql.query(stay, [executorId, threads]);
      const rows = await selectHosting.all(sql, [executorId, threads]);
      const of = (isDeleted: boolean) => rows.filter((row) => row.is_deleted === isDeleted).map((row) => row.thread_id);
      const time = await clock.first(sql);
      const hosting = { deleted: of(true), moved: of(false), ...(time && { at: time.now.toISOString() }) };
      if (before === undefined) return hosting;
      const old = await selectHostedBefore.all(sql, [executorId, threads, before]);
      return { ...hosting, hostedBefore: old.map((row) => row.thread_id) };
    });
  }
}
