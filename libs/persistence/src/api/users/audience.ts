import { type AccountId, type EndUser, type ThreadId, approvalId, toCallId } from '@rondo/contract';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';

/** For whom a client token is: one person, or one thread. One of both is null. */
export interface Audience {
  readonly user: EndUser | null;
  readonly threadId: ThreadId | null;
}

/** The threads of an audience: `$1` is the account, `$2` the person, `$3` the thread. */
const isTheirs = `
threads.account_id = $1 and threads.deleted_at is null and not threads.is_workspace
  and ($2::text is null or threads.end_user = $2) and ($3::text is null or threads.id = $3)
  and ($2::text is not null or $3::text is not null)`;

const found = (text: string) => createQuery(z.object({ found: z.number() }), `select 1 as found ${text} limit 1`);

const runs = `join runs on runs.thread_id = threads.id`;
const calls = `from tool_calls join runs on runs.id = tool_calls.run_id join threads on threads.id = runs.thread_id`;

/** By the names that parameters of paths have. */
const statements = {
  thread_id: found(`from threads where threads.id = $4 and ${isTheirs}`),
  run_id: found(`from threads ${runs} where runs.id = $4 and ${isTheirs}`),
  tool_call_id: found(`${calls} where tool_calls.id = $4 and ${isTheirs}`),
  /** Of a call, whose id is given; or of a secret. */
  approval_id: found(
    `from threads ${runs} where runs.id = coalesce(
      (select run_id from tool_calls where id = $4),
      (select run_id from secret_approvals where id = 'apr_' || substr($4, 6))
    ) and ${isTheirs}`,
  ),
  sandbox_id: found(
    `from sandboxes join threads on threads.id = sandboxes.thread_id where sandboxes.id = $4 and ${isTheirs}`,
  ),
  sha256: found(
    `from threads join blob_refs on blob_refs.thread_id = threads.id where blob_refs.sha256 = $4 and ${isTheirs}`,
  ),
  /** One that was uploaded with a token of the same audience, or that a run on their threads got. */
  file_id: found(
    `from files where files.id = $4 and files.account_id = $1 and (
      files.end_user = $2 or files.of_thread = $3 or exists (
        select from run_files join threads on threads.id = run_files.thread_id
        where run_files.file_id = files.id and ${isTheirs}
      )
    )`,
  ),
} as const;

export type ReachableName = keyof typeof statements;

export const isReachable = (name: string): name is ReachableName => Object.hasOwn(statements, name);

export interface ReachQuestion {
  readonly accountId: AccountId;
  readonly audience: Audience;
  readonly name: ReachableName;
  readonly id: string;
}

/** Whether something is of the threads of an audience. */
export class Audiences {
  constructor(private readonly database: Database) {}

  async reaches({ accountId, audience: { user, threadId }, name, id }: ReachQuestion): Promise<boolean> {
    const value = name === 'approval_id' ? toCallId(approvalId.parse(id)) : id;
    return (await statements[name].first(this.database.sql, [accountId, user, threadId, value])) !== undefined;
  }
}
