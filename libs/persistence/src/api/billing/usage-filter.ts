import type { AccountId, AgentId, RunId, ThreadId } from '@rondo/contract';
import { chargedAmount } from '../../run-log/charged-amount';

/** Which usage entries of an account. */
export interface UsageFilter {
  readonly accountId: AccountId;
  /** From this moment on, and before that one. */
  readonly from: Date;
  readonly to: Date;
  readonly agentId?: AgentId | undefined;
  readonly runId?: RunId | undefined;
  readonly threadId?: ThreadId | undefined;
  readonly model?: string | undefined;
}

/**
 * The entries, found by the index of the account and the time. A run or a thread has none before it was created. Entries
 * without a thread are older than the column, and only they need their run.
 */
export const filteredUsage = `
select entry.*, coalesce(entry.thread_id, runs.thread_id) as of_thread, coalesce(entry.agent_id, runs.agent_id) as of_agent,
  ${chargedAmount('entry.cost_usd', 'entry.price_factor')} as charged_usd
from usage_entries as entry left join runs on entry.thread_id is null and runs.id = entry.run_id
where entry.account_id = $1 and entry.created_at < $3
  and entry.created_at >= greatest(
    $2::timestamptz,
    (select created_at from runs where id = $5 and account_id = $1),
    (select created_at from threads where id = $6 and account_id = $1)
  )
  and ($4::text is null or coalesce(entry.agent_id, runs.agent_id) = $4)
  and ($5::text is null or entry.run_id = $5)
  and ($6::text is null or coalesce(entry.thread_id, runs.thread_id) = $6)
  and ($7::text is null or entry.model = $7)`;

export const valuesOf = ({ accountId, from, to, agentId, runId, threadId, model }: UsageFilter): readonly unknown[] => [
  accountId,
  from,
  to,
  agentId ?? null,
  runId ?? null,
  threadId ?? null,
  model ?? null,
];
