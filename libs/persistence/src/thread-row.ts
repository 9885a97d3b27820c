import { type AccountId, TerminalError, type ThreadId } from '@rondo/domain';
import type { Sql } from './sql';

export interface ThreadAddress {
  readonly accountId: AccountId;
  readonly threadId: ThreadId;
}

export interface NewThread {
  readonly id: ThreadId;
  readonly accountId: AccountId;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const newThread = `insert into threads (id, account_id, metadata) values ($1, $2, $3) returning created_at`;

export async function insertThread(sql: Sql, { id, accountId, metadata }: NewThread): Promise<{ createdAt: string }> {
  const [row] = await sql.query<{ created_at: Date }>(newThread, [id, accountId, JSON.stringify(metadata)]);
  return { createdAt: row?.created_at.toISOString() ?? '' };
}

const lockedThread = `
select last_message_seq from threads where id = $1 and account_id = $2 and deleted_at is null for no key update`;

/** Nobody adds to the thread, or deletes it, until the transaction ends. Answers with its last message's `seq`. */
export async function lockThread(sql: Sql, { accountId, threadId }: ThreadAddress): Promise<number> {
  const [row] = await sql.query<{ last_message_seq: number }>(lockedThread, [threadId, accountId]);
  if (!row) throw threadNotFound(threadId);
  return row.last_message_seq;
}

export const threadNotFound = (id: ThreadId): TerminalError =>
  new TerminalError('thread_not_found', `There is no thread ${id}.`);
