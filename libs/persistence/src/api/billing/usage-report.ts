import { type UsageGroup, roundUsd } from '@rondo/contract';
import type { Sql } from '../../database/sql';
import { type UsageFilter, attributedUsage, filteredUsage, listValues } from './usage-filter';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';

/** `cost_usd` and `charged_usd` are sums over the calls with a known price, and null if there is no such call. */
export interface UsageSums {
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
export interface UsageRow extends UsageSums {
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
export async function readUsage(
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
