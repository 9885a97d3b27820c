import {
  type AccountId,
  type ListedApproval,
  type Run,
  type Waiting,
  listedApproval,
  runId,
  runStatus,
  threadId,
  useSecret,
} from '@rondo/contract';
import type { Sql } from '../../database/sql';
import { type Page, type PageRequest, BoundedList, idOfCursor } from '../page';
import { z } from 'zod';
import { utcText } from '../../database/stored-text';
import { jsonDocument } from '../../database/checked-query';

/** A run that waits for a person, or a request of which does, and for what. */
export interface InboxItem {
  /** The id of the run. */
  readonly id: Run['id'];
  readonly thread_id: Run['thread_id'];
  readonly status: Run['status'];
  readonly waiting: Omit<Waiting, 'approvals'> & { readonly approvals?: readonly ListedApproval[] | undefined };
}

const waitingRuns = new BoundedList(
  `with secrets as (
    select run_id, json_agg(json_build_object('approval_id', id, 'tool_call_id', call_id, 'name', '${useSecret}',
      'requested_at', ${utcText('requested_at')}, 'expires_at', ${utcText('expires_at')}) order by id) as awaited
    from secret_approvals where account_id = $1 and outcome is null and expires_at > clock_timestamp() group by run_id
  ),
  found as (
    select id from runs where account_id = $1 and waiting is not null and status not in ('waiting_child', 'waiting_tool')
    union select run_id from secrets
  )
  select runs.id, thread_id, status, waiting, awaited as secrets
  from found join runs using (id) join threads on threads.id = thread_id left join secrets on secrets.run_id = runs.id
  where finished_at is null and deleted_at is null and ($2::text is null or runs.id > $2)
  order by runs.id limit $3`,
  { order: 'id', length: 'coalesce(octet_length(waiting::text), 0)' },
  z
    .object({
      ...{ id: runId, thread_id: threadId, status: runStatus, waiting: jsonDocument<Waiting>().nullable() },
      secrets: z.array(listedApproval).nullable(),
    })
    .transform(({ waiting, secrets, ...run }): InboxItem => ({ ...run, waiting: withSecrets(waiting, secrets) })),
);

/** A run that waits for a person because a request waits goes on otherwise, and says itself that it waits for nothing. */
function withSecrets(waiting: Waiting | null, secrets: readonly ListedApproval[] | null): InboxItem['waiting'] {
  const { approvals = [], ...rest } = waiting ?? { reason: 'approval' as const };
  const all = [...approvals, ...(secrets ?? [])];
  return { ...rest, ...(all.length > 0 && { approvals: all }) };
}

/** Everything of an account that waits for a person, the oldest run first. */
export async function listInbox(
  sql: Sql,
  { accountId, after, limit }: PageRequest & { readonly accountId: AccountId },
): Promise<Page<InboxItem>> {
  const before = after === undefined ? null : idOfCursor(after, runId);
  return waitingRuns.page(sql, [accountId, before], limit);
}
