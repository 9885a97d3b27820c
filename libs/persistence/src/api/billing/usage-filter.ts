import type { AccountId, AgentId, EndUser, RunId, ThreadId } from '@rondo/contract';
import { chargeAmount } from '../../run-log/charged-amount';

/** Which usage entries of an account. */
export interface UsageFilter {
  readonly accountId: AccountId;
  /** From this moment on, and before that one. */
  readonly from: Date;
  readonly to: Date;
  readonly agentId?: AgentId | undefined;
  readonly runId?: RunId | undefined;
  readonly threadId?: ThreadId | undefined;
  readonly user?: EndUser | undefined;
  readonly model?: string | undefined;
}

/**
 * The entries, found by the index of the account and the time. A run or a thread has none before it was created. Entries
 * without a thread are older than the column, and only they need their run, as does everything by users and keys: these are
 * read from the run, so that what is left of a person in the ledger ends with their runs.
 */
const filterUsage = (joined: string) => `
select entry.*, runs.end_user as of_user, runs.created_by as of_key, coalesce(entry.thread_id, runs.thread_id) as of_thread, coalesce(entry.agent_id, runs.agent_id) as of_agent,
  ${chargeAmount('entry.cost_usd', 'entry.price_factor')} as charged_usd
from usage_entries as entry left join runs on ${joined} and runs.id = entry.run_id
where entry.account_id = $1 and entry.created_at < $3
  and entry.created_at >= greatest(
    $2::timestamptz,
    (select created_at from runs where id = $5 and account_id = $1),
    (select created_at from threads where id = $6 and account_id = $1)
  )
  and ($4::text is null or coalesce(entry.agent_id, runs.agent_id) = $4)
  and ($5::text is null or entry.run_id = $5)
  and ($6::text is null or coalesce(entry.thread_id, runs.thread_id) = $6)
  and ($7::text is null or entry.model = $7)
  and ($8::text is null or runs.end_user = $8)`;

export const filteredUsage = filterUsage('($8::text is not null or entry.thread_id is null)');
/** With the user and the key of every entry. */
export const attributedUsage = filterUsage('true');

export const listValues = ({
  accountId,
  from,
  to,
  agentId,
  runId,
  threadId,
  model,
  user,
}: UsageFilter): readonly unknown[] => [
  accountId,
  from,
  to,
  agentId ?? null,
  runId ?? null,
  threadId ?? null,
  model ?? null,
  user ?? null,
];
