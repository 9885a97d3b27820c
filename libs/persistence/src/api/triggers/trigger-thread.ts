import { type AccountId, type NewId, type Schedule, type ThreadId, readUser, threadId } from '@rondo/contract';
import type { Sql } from '../../database/sql';
import { insertThread, lockThread } from '../thread-row';

interface TriggerOfThread {
  readonly accountId: AccountId;
  readonly fields: Pick<Schedule, 'thread' | 'thread_id' | 'run'>;
}

/** The thread of all runs of a trigger, a new one if it names none. Null if each run gets its own. */
export async function threadOfTrigger(
  sql: Sql,
  newId: NewId,
  { accountId, fields }: TriggerOfThread,
): Promise<ThreadId | null> {
  if (fields.thread === 'new') return null;
  if (fields.thread_id !== null) {
    await lockThread(sql, { accountId, threadId: fields.thread_id });
    return fields.thread_id;
  }
  const id = threadId.parse(`thr_${newId()}`);
  await insertThread(sql, {
    ...{ id, accountId, agentId: fields.run.agent_id ?? null, metadata: {} },
    user: readUser(fields.run),
  });
  return id;
}
