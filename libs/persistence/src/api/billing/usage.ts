import { type UsageEntry, type UsageGroup, modelCallId, roundUsd, usageEntry } from '@rondo/contract';
import { z } from 'zod';
import type { Database } from '../../database/database';
import { type Page, type PageRequest, idOfCursor, invalidCursor, toPage } from '../page';
import { type UsageFilter, filteredUsage, listValues } from './usage-filter';
import { type UsageReport, readUsage } from './usage-report';
import type { Sql } from '../../database/sql';
import { createQuery } from '../../database/checked-query';

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
