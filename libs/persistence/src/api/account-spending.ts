import type { RunId } from '@rondo/contract';
import type { Database } from '../database/database';
import { z } from 'zod';
import { createQuery } from '../database/checked-query';

export type SpendingPeriod = 'day' | 'month';

export interface Spent {
  readonly accountId: string;
  /** The sum of calls with a known price. */
  readonly usd: number;
  readonly tokens: number;
}

/** What accounts have spent since the day or the month (UTC) began, by the database's clock. */
export class AccountSpending {
  constructor(private readonly database: Database) {}

  /** What the account of a run has spent; undefined if the run no longer exists. */
  async ofRun(runId: RunId, period: SpendingPeriod): Promise<Spent | undefined> {
    const spent = await spentByAccount.first(this.database.sql, [runId, period]);
    return spent;
  }
}

const spentByAccount = createQuery(
  z.object({ accountId: z.string(), usd: z.number(), tokens: z.number() }),
  `
select runs.account_id as "accountId", spent.usd, spent.tokens
from runs, lateral (
  select coalesce(sum(cost_usd), 0) as usd, coalesce(sum(input_tokens::float + output_tokens), 0) as tokens
  from usage_entries
  where account_id = runs.account_id and created_at >= date_trunc($2, now(), 'UTC')
) as spent
where runs.id = $1`,
);
