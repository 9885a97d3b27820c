import { type AccountId, type Run, type Waiting, runId, runStatus, threadId } from '@rondo/contract';
import type { Sql } from '../../database/sql';
import { type Page, type PageRequest, BoundedList, idOfCursor } from '../page';
import { z } from 'zod';
import { jsonDocument } from '../../database/checked-query';

/** A run that waits for a person, and for what. */
export interface InboxItem {
  /** The id of the run. */
  readonly id: Run['id'];
  readonly thread_id: Run['thread_id'];
  readonly status: Run['status'];
  readonly waiting: Waiting;
}

const waitingRuns = new BoundedList(
  `select runs.id, thread_id, status, waiting
  from runs join threads on threads.id = thread_id
  where runs.account_id = $1 and waiting is not null and status not in ('waiting_child', 'waiting_tool') and deleted_at is null and ($2::text is null or runs.id > $2)
  order by runs.id limit $3`,
  { order: 'id', length: 'octet_length(waiting::text)' },
  z.object({ id: runId, thread_id: threadId, status: runStatus, waiting: jsonDocument<Waiting>() }),
);

/** Everything of an account that waits for a person, the oldest run first. */
export async function listInbox(
  sql: Sql,
  { accountId, after, limit }: PageRequest & { readonly accountId: AccountId },
): Promise<Page<InboxItem>> {
  const before = after === undefined ? null : idOfCursor(after, runId);
  return waitingRuns.page(sql, [accountId, before], limit);
}
