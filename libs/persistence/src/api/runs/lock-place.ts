import type { AccountId, ProjectId, ThreadId, ThreadLimits } from '@rondo/contract';
import type { Sql } from '../../database/sql';
import { keepProject } from '../projects/project-row';
import { type LockedThread, lockThread, requireCapacity } from '../thread-row';

interface WantedPlace {
  readonly accountId: AccountId;
  /** A new thread if undefined. */
  readonly threadId?: ThreadId | undefined;
  /** Of the new thread. */
  readonly projectId?: ProjectId | undefined;
}

/**
 * The thread of a new run, or the project of its new thread, neither of which can be deleted until the transaction ends.
 * Rejects with `thread_not_found`, `thread_full` and `project_not_found`.
 */
export async function lockPlace(
  sql: Sql,
  { accountId, threadId, projectId }: WantedPlace,
  limits: ThreadLimits,
): Promise<Pick<LockedThread, 'project_id' | 'last_message_seq'>> {
  if (threadId === undefined) {
    if (projectId !== undefined) await keepProject(sql, { accountId, projectId });
    return { project_id: projectId ?? null, last_message_seq: 0 };
  }
  const thread = await lockThread(sql, { accountId, threadId });
  requireCapacity(threadId, thread, limits);
  return thread;
}
