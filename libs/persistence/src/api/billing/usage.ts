import {
  type AccountId,
  type AgentId,
  type EndUser,
  type RunId,
  type ThreadId,
  type UsageEntry,
  type UsageGroup,
  modelCallId,
  roundUsd,
  usageEntry,
} from '@rondo/contract';
import { z } from 'zod';
import type { Database } from '../../database/database';
import { type Page, type PageRequest, idOfCursor, invalidCursor, toPage } from '../page';
import type { Sql } from '../../database/sql';
import { createQuery } from '../../database/checked-query';
import { chargeAmount } from '../../run-log/settle-calls';

/** What the model calls of an account have used, from the ledger of usage entries. */
export class UsageLedger {
  constructor(private readonly database: Database) {}

  report(
    filter: UsageFilter & { readonly groups: readonly UsageGroup[]; readonly limit: number },
  ): Promise<UsageReport> {
    return readUsage(this.database.sql, filter);
  }

  entries(filter: UsageFilter & PageRequest): Promise<Page<UsageEntry>> {
    return listUsageEntries(this.database.sql, filter);
  }
}

const entryRow = usageEntry.extend({ created_at: z.date() });
type EntryRow = z.infer<typeof entryRow>;

/** Which usage entries of an account. */
interface UsageFilter {
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
/** The entries with the user and the key of every one. */
const attributedUsage = filterUsage('true');

const listValues = ({
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

const newestEntries = createQuery(
  entryRow,
  `
select model_call_id as id, run_id, of_thread as thread_id, of_agent as agent_id, iteration, model, finish_reason, input_tokens,
  cached_tokens, output_tokens, cost_usd, estimated, duration_ms, created_at,
  coalesce(price_factor, 1)::float as price_factor, charged_usd::float as charged_usd
from (${filteredUsage}) as filtered
where $9::timestamptz is null or (created_at, model_call_id) < ($9, $10)
order by created_at desc, model_call_id desc limit $11`,
);

const timeOfEntry = createQuery(
  z.object({ created_at: z.date() }),
  `select created_at from usage_entries where model_call_id = $1 and account_id = $2`,
);

/** Newest first. */
async function listUsageEntries(
  sql: Sql,
  { after, limit, ...filter }: UsageFilter & PageRequest,
): Promise<Page<UsageEntry>> {
  const last = after === undefined ? null : idOfCursor(after, modelCallId);
  const [place] = last === null ? [] : await timeOfEntry.all(sql, [last, filter.accountId]);
  if (last !== null && !place) throw invalidCursor();
  const values = [...listValues(filter), place?.created_at ?? null, last, limit + 1];
  return toPage((await newestEntries.all(sql, values)).map(toEntry), limit);
}

const toEntry = ({ created_at, cost_usd, ...row }: EntryRow): UsageEntry => ({
  ...row,
  cost_usd: cost_usd && roundUsd(cost_usd),
  created_at: created_at.toISOString(),
});

/** `cost_usd` and `charged_usd` are sums over the calls with a known price, and null if there is no such call. */
interface UsageSums {
  readonly calls: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number | null;
  /** Calls whose price was not known; their cost is in no sum. */
  readonly unpriced_calls: number;
  /** Calls of which the provider did not report all tokens. */
  readonly estimated_calls: number;
  /** What the balance of the account paid. */
  readonly charged_usd: number | null;
}

/** A key of a group by which the report is not grouped is absent. */
interface UsageRow extends UsageSums {
  readonly day?: string;
  readonly model?: string;
  /** Null: the run began with no stored agent. */
  readonly agent_id?: string | null;
  /** Null: the run has none, or was deleted. */
  readonly user?: string | null;
  /** Null: no key and no user of an outside issuer started the run, or it was deleted. */
  readonly key_id?: string | null;
}

export interface UsageReport {
  readonly data: readonly UsageRow[];
  /** Of all rows, also of those that were left out. */
  readonly total: UsageSums;
  readonly has_more: boolean;
}

const groupRow = z.object({
  day: z.string().nullable(),
  model: z.string().nullable(),
  agent: z.string().nullable(),
  end_user: z.string().nullable(),
  key: z.string().nullable(),
  is_total: z.boolean(),
  calls: z.number(),
  input_tokens: z.number(),
  cached_tokens: z.number(),
  output_tokens: z.number(),
  cost_usd: z.number().nullable(),
  unpriced_calls: z.number(),
  estimated_calls: z.number(),
  charged_usd: z.number().nullable(),
});
type GroupRow = z.infer<typeof groupRow>;

/** The total is a row of the same statement, so that it is that of these rows. */
const groupUsage = (filtered: string) =>
  createQuery(
    groupRow,
    `
select day, model, agent, end_user, key, grouping(day, model, agent, end_user, key) > 0 as is_total,
  count(*)::float as calls,
  coalesce(sum(input_tokens::float), 0) as input_tokens,
  coalesce(sum(cached_tokens::float), 0) as cached_tokens,
  coalesce(sum(output_tokens::float), 0) as output_tokens,
  sum(cost_usd) as cost_usd,
  (count(*) filter (where cost_usd is null))::float as unpriced_calls,
  (count(*) filter (where estimated))::float as estimated_calls,
  sum(charged_usd)::float as charged_usd
from (
  select
    case when 'day' = any($9::text[]) then to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') end as day,
    case when 'model' = any($9::text[]) then model end as model,
    case when 'agent' = any($9::text[]) then of_agent end as agent,
    case when 'user' = any($9::text[]) then of_user end as end_user,
    case when 'key' = any($9::text[]) then of_key end as key,
    input_tokens, cached_tokens, output_tokens, cost_usd, estimated, charged_usd
  from (${filtered}) as filtered
) as keyed
group by grouping sets ((day, model, agent, end_user, key), ())
order by is_total desc, day desc nulls last, model nulls last, agent nulls last, end_user nulls last, key nulls last
limit $10`,
  );
const [grouped, groupedByOrigin] = [groupUsage(filteredUsage), groupUsage(attributedUsage)];

/** The newest day first. */
async function readUsage(
  sql: Sql,
  filter: UsageFilter & { readonly groups: readonly UsageGroup[]; readonly limit: number },
): Promise<UsageReport> {
  const { groups, limit } = filter;
  const isByOrigin = groups.includes('user') || groups.includes('key');
  const rows = await (isByOrigin ? groupedByOrigin : grouped).all(sql, [...listValues(filter), groups, limit + 2]);
  const total = rows.find(({ is_total }) => is_total);
  const shown = rows.filter(({ is_total }) => !is_total);
  return {
    data: shown.slice(0, limit).map((row) => toRow(row, groups)),
    total: total ? toSums(total) : none,
    has_more: shown.length > limit,
  };
}

const toRow = (row: GroupRow, groups: readonly UsageGroup[]): UsageRow => ({
  ...(groups.includes('day') && row.day !== null && { day: row.day }),
  ...(groups.includes('model') && row.model !== null && { model: row.model }),
  ...(groups.includes('agent') && { agent_id: row.agent }),
  ...(groups.includes('user') && { user: row.end_user }),
  ...(groups.includes('key') && { key_id: row.key }),
  ...toSums(row),
});

const toSums = (row: UsageSums): UsageSums => ({
  calls: row.calls,
  input_tokens: row.input_tokens,
  cached_tokens: row.cached_tokens,
  output_tokens: row.output_tokens,
  cost_usd: row.cost_usd && roundUsd(row.cost_usd),
  unpriced_calls: row.unpriced_calls,
  estimated_calls: row.estimated_calls,
  charged_usd: row.charged_usd && roundUsd(row.charged_usd),
});

const none: UsageSums = {
  calls: 0,
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  cost_usd: null,
  unpriced_calls: 0,
  estimated_calls: 0,
  charged_usd: null,
};
