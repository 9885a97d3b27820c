import type { AccountId, EndUser, ProjectId, ThreadId, ThreadLimits } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Sql } from '../../database/sql';
import { keepProject } from '../projects/project-row';
import { type LockedThread, lockThread, requireCapacity } from '../thread-row';

interface WantedPlace {
  readonly accountId: AccountId;
  /** A new thread if undefined. */
  readonly threadId?: ThreadId | undefined;
  /** Of the new thread. */
  readonly projectId?: ProjectId | undefined;
  readonly user?: EndUser | undefined;
}

/** The thread is of another person than the run is to be. */
export class OtherUserError extends TerminalError {
  override readonly name = 'OtherUserError';
  readonly field = 'user';

  constructor({ end_user: user }: Pick<LockedThread, 'end_user'>) {
    super('other_user', user === null ? 'must be absent: the thread has no user' : 'must be that of the thread');
  }
}

/**
 * The thread of a new run, or the project of its new thread, neither of which can be deleted until the transaction ends.
 * Rejects with `thread_not_found`, `thread_full` and `project_not_found`, and with OtherUserError.
 */
export async function lockPlace(
  sql: Sql,
  { accountId, threadId, projectId, user }: WantedPlace,
  limits: ThreadLimits,
): Promise<Pick<LockedThread, 'project_id' | 'end_user' | 'last_message_seq'>> {
  if (threadId === undefined) {
    if (projectId !== undefined) await keepProject(sql, { accountId, projectId });
    return { project_id: projectId ?? null, end_user: user ?? null, last_message_seq: 0 };
  }
  const thread = await lockThread(sql, { accountId, threadId });
  if (user !== undefined && user !== thread.end_user) throw new OtherUserError(thread);
  requireCapacity(threadId, thread, limits);
  return thread;
}
