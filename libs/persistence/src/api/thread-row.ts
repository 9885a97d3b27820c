import {
  type AccountId,
  type AgentId,
  type EndUser,
  type ProjectId,
  type RunId,
  type ThreadId,
  type ThreadLimits,
  endUser,
  projectId,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Sql } from '../database/sql';
import { z } from 'zod';
import { createQuery } from '../database/checked-query';
import { keepProject } from './projects/project-row';

export interface ThreadAddress {
  readonly accountId: AccountId;
  readonly threadId: ThreadId;
}

export interface NewThread {
  readonly id: ThreadId;
  readonly accountId: AccountId;
  readonly title?: string | null;
  readonly agentId: AgentId | null;
  readonly projectId?: ProjectId | null;
  readonly user?: EndUser | null | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const newThread = createQuery(
  z.object({ created_at: z.date() }),
  `insert into threads (id, account_id, agent_id, metadata, project_id, title, end_user) values ($1, $2, $3, $4, $5, $6, $7) returning created_at`,
);

export async function insertThread(sql: Sql, thread: NewThread): Promise<{ createdAt: string }> {
  const { id, accountId, agentId, projectId = null, title = null, user = null, metadata } = thread;
  const values = [id, accountId, agentId, JSON.stringify(metadata), projectId, title, user];
  const row = await newThread.first(sql, values);
  return { createdAt: row?.created_at.toISOString() ?? '' };
}

const threadSizeRow = z.object({ last_message_seq: z.number(), message_bytes: z.number() });

const lockedThread = createQuery(
  threadSizeRow.extend({ project_id: projectId.nullable(), end_user: endUser.nullable() }),
  `
select last_message_seq, message_bytes::float, project_id, end_user from threads
where id = $1 and account_id = $2 and deleted_at is null and not is_workspace for no key update`,
);

export interface ThreadSize {
  readonly last_message_seq: number;
  readonly message_bytes: number;
}

export interface LockedThread extends ThreadSize {
  readonly project_id: ProjectId | null;
  readonly end_user: EndUser | null;
}

/** Locks the thread against additions and deletion until the transaction ends. Rejects with `thread_not_found`. */
export async function lockThread(sql: Sql, { accountId, threadId }: ThreadAddress): Promise<LockedThread> {
  const thread = await lockedThread.first(sql, [threadId, accountId]);
  if (!thread) throw threadNotFound(threadId);
  return thread;
}

const threadSize = createQuery(
  threadSizeRow,
  `select last_message_seq, message_bytes::float from threads where id = $1`,
);

/** Rejects with `thread_full` if clients may add nothing more to the thread. */
export async function requireThreadCapacity(sql: Sql, threadId: ThreadId, limits: ThreadLimits): Promise<void> {
  const size = await threadSize.first(sql, [threadId]);
  if (size) requireCapacity(threadId, size, limits);
}

/** Throws `thread_full` if clients may add nothing more. Runs have limits of their own. */
export function requireCapacity(threadId: ThreadId, size: ThreadSize, limits: ThreadLimits): void {
  if (size.last_message_seq >= limits.messages) throw threadFull(threadId, `${limits.messages} messages`);
  if (size.message_bytes >= limits.bytes) throw threadFull(threadId, `${limits.bytes} bytes of messages`);
}

const threadFull = (id: ThreadId, most: string): TerminalError =>
  new TerminalError('thread_full', `${id} holds ${most} or more, which is the most. Go on in a new thread.`);

export const threadNotFound = (id: ThreadId): TerminalError =>
  new TerminalError('thread_not_found', `There is no thread ${id}.`);

interface WantedPlace {
  readonly accountId: AccountId;
  /** A new thread if undefined. */
  readonly threadId?: ThreadId | undefined;
  /** The project of the new thread. */
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

/** The thread has a run that is not over (I9). */
export class ThreadBusyError extends TerminalError {
  override readonly name = 'ThreadBusyError';

  constructor(
    readonly threadId: ThreadId,
    readonly activeRunId: RunId,
  ) {
    super('thread_busy', `${activeRunId} is active on ${threadId}.`);
  }
}
