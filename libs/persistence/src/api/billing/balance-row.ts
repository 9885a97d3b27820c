import type { AccountId } from '@rondo/contract';
import { type AccountTier, TerminalError } from '@rondo/domain';
import type { Sql } from '../../database/sql';
import { chargeAmount } from '../../run-log/settle-calls';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';

export type SpendingLimit = Pick<AccountTier, 'usd' | 'period'>;

/** What is stored of what an account may use and pays. */
export interface AccountTerms {
  /** The name of its tier; null for the default one. */
  readonly tier: string | null;
  /** Its own; null for that of the tier. */
  readonly priceFactor: number | null;
}

const selectTerms = createQuery(
  z.object({ tier: z.string().nullable(), priceFactor: z.number().nullable() }),
  `
select tier, price_factor::float as "priceFactor" from account_balances where account_id = $1`,
);

/** Reads the terms of an account, also of one without a balance. */
export async function readTerms(sql: Sql, account: AccountId): Promise<AccountTerms> {
  const row = await selectTerms.first(sql, [account]);
  return row ?? { tier: null, priceFactor: null };
}

/** Also locks the row, so that the next statement counts what was committed before, and later calls are added to that. */
const lockBalance = createQuery(
  z.object({ tier: z.string().nullable() }),
  `
insert into account_balances (account_id, period, period_start)
select id, $2::text, date_trunc($2, now(), 'UTC') from accounts where id = $1 and removed_at is null
on conflict (account_id) do update set tier = account_balances.tier
returning tier`,
);

/** What was charged for an account's calls with a known price; both are SQL expressions. */
export const selectSpent = (account: string, since: string): string => `
  select coalesce(sum(${chargeAmount('cost_usd', 'price_factor')}), 0) from usage_entries where account_id = ${account} and created_at >= ${since}`;

const writeLimit = `
update account_balances set
  tier = $2, period = $3, allowance_usd = $4::float, period_start = date_trunc($3, now(), 'UTC'),
  spent_usd = (${selectSpent('$1', `date_trunc($3, now(), 'UTC')`)})
where account_id = $1`;

/** Locks the balance in a transaction, and creates it where there is none. Rejects with `account_not_found`. */
export async function lockTier(sql: Sql, account: AccountId, { period }: SpendingLimit): Promise<string | null> {
  const row = await lockBalance.first(sql, [account, period]);
  if (!row) throw accountNotFound(account);
  return row.tier;
}

/** Sets the tier of a locked balance, and counts anew what was spent in the period, which may be another one than before. */
export async function writeTier(
  sql: Sql,
  account: AccountId,
  { tier, limit }: { tier: string | null; limit: SpendingLimit },
): Promise<void> {
  await sql.query(writeLimit, [account, tier, limit.period, limit.usd ?? null]);
}

export const accountNotFound = (account: AccountId): TerminalError =>
  new TerminalError('account_not_found', `There is no account ${account}.`);
