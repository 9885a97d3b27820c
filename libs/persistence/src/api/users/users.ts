import { type AccountId, type EndUser, type RunId, runId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';

export interface UserAddress {
  readonly accountId: AccountId;
  readonly user: EndUser;
}

/** How much is of a person. */
interface UserAmounts {
  readonly threads: number;
  readonly runs: number;
  readonly messages: number;
  readonly tool_calls: number;
  /** Uploaded with a client token of theirs. */
  readonly files: number;
  readonly client_tokens: number;
  readonly memory_stores: number;
}

export interface User extends UserAmounts {
  readonly user: EndUser;
  readonly first_thread_at: string | null;
}

/** What was made inaccessible. Active runs keep their threads until the request is repeated. */
export interface ErasedUser extends UserAmounts {
  readonly user: EndUser;
  readonly active_runs: number;
  readonly erased_at: string;
}

const count = z.number();
const amounts = {
  ...{ threads: count, runs: count, messages: count, tool_calls: count },
  ...{ files: count, client_tokens: count, memory_stores: count },
};

/** The threads of the person; `$1` is the account. */
const theirThreads = `threads.account_id = $1 and threads.end_user = $2 and threads.deleted_at is null`;

/** Of the threads that the query `theirs` has. */
const amountColumns = `
  (select count(*) from theirs)::int as threads,
  (select count(*) from runs where thread_id in (select id from theirs))::int as runs,
  (select count(*) from messages where thread_id in (select id from theirs))::int as messages,
  (select count(*) from tool_calls join runs on runs.id = run_id where thread_id in (select id from theirs))::int as tool_calls`;

const userCounts = createQuery(
  z.object({ ...amounts, first_thread_at: z.date().nullable() }),
  `
with theirs as (select id, created_at from threads where ${theirThreads})
select ${amountColumns},
  (select count(*) from files where account_id = $1 and end_user = $2)::int as files,
  (select count(*) from client_tokens where account_id = $1 and end_user = $2 and revoked_at is null
    and expires_at > clock_timestamp())::int as client_tokens,
  (select count(*) from memory_stores where account_id = $1 and end_user = $2)::int as memory_stores,
  (select min(created_at) from theirs) as first_thread_at`,
);

const activeRuns = createQuery(
  z.object({ id: runId }),
  `
select id from runs where account_id = $1 and end_user = $2 and finished_at is null order by id limit 100`,
);

const deleteTokens = `delete from client_tokens where account_id = $1 and end_user = $2 returning id`;
const deleteConnections = `delete from mcp_connections where account_id = $1 and end_user = $2`;

/** Hides what `Purge` then deletes, as the deletion of one thread does. Their files and memory go at once. */
const eraseIdle = createQuery(
  z.object({ ...amounts, active_runs: count, erased_at: z.date() }),
  `
with theirs as materialized (
  select id from threads
  where ${theirThreads} and not exists (select from runs where thread_id = threads.id and finished_at is null)
  for no key update
),
counted as materialized (select ${amountColumns}),
vacated as (update sandboxes set vacate_at = clock_timestamp() from theirs where thread_id = theirs.id),
hidden as (update threads set deleted_at = clock_timestamp() from theirs where threads.id = theirs.id),
removed as (delete from files where account_id = $1 and end_user = $2 returning id),
forgotten as (delete from memory_stores where account_id = $1 and end_user = $2 returning id)
select counted.*, (select count(*) from removed)::int as files, (select count(*) from forgotten)::int as memory_stores, $3::int as client_tokens,
  (select count(*) from runs where account_id = $1 and end_user = $2 and finished_at is null)::int as active_runs,
  clock_timestamp() as erased_at
from counted`,
);

/** The people for whom accounts run threads. */
export class Users {
  constructor(private readonly database: Database) {}

  /** Rejects with `user_not_found` where nothing is of them. */
  async get({ accountId, user }: UserAddress): Promise<User> {
    const row = await userCounts.first(this.database.sql, [accountId, user]);
    if (!row || row.threads + row.files + row.client_tokens + row.memory_stores === 0)
      throw new TerminalError('user_not_found', `There is no user ${user}.`);
    return { user, ...row, first_thread_at: row.first_thread_at?.toISOString() ?? null };
  }

  /** The tokens of their browsers end, and their connections to MCP servers. Resolves to how many tokens there were. */
  async endTokens({ accountId, user }: UserAddress): Promise<number> {
    await this.database.sql.query(deleteConnections, [accountId, user]);
    return (await this.database.sql.query(deleteTokens, [accountId, user])).length;
  }

  /** Some of their runs that are not over. */
  async findActiveRuns({ accountId, user }: UserAddress): Promise<readonly RunId[]> {
    return (await activeRuns.all(this.database.sql, [accountId, user])).map(({ id }) => id);
  }

  /** Makes their threads without active runs inaccessible, and says how much that was. Idempotent. */
  async erase({ accountId, user }: UserAddress, endedTokens: number): Promise<ErasedUser> {
    const row = await eraseIdle.first(this.database.sql, [accountId, user, endedTokens]);
    if (!row) throw new Error('what is of a user was not counted');
    return { user, ...row, erased_at: row.erased_at.toISOString() };
  }
}
