import { type AccountId, type Credit, type NewId, creditId } from '@rondo/contract';
import type { AccountFunds, AccountTier } from '@rondo/domain';
import type { Database } from '../../database/database';
import { toStoredText } from '../../database/stored-text';
import { type PendingKey, storeResponse } from '../idempotency-keys';
import {
  type AccountTerms,
  type SpendingLimit,
  accountNotFound,
  lockTier,
  readTerms,
  selectSpent,
  writeTier,
} from './balance-row';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';

export interface AccountBalance extends AccountFunds {
  readonly tier: string | null;
  /** The account's own; null: that of its tier. */
  readonly priceFactor: number | null;
  readonly periodStart: Date;
  readonly periodEnd: Date;
}

export interface TierOrder {
  readonly accountId: AccountId;
  readonly tier: AccountTier;
  /** Instead of that of the tier. */
  readonly priceFactor?: number | undefined;
}

export interface CreditOrder {
  readonly accountId: AccountId;
  /** Below zero, credit is taken back. */
  readonly usd: number;
  readonly reason: string | undefined;
  /** The id of the API key. */
  readonly givenBy: string;
  /** Of the tier that the account has by its name, or without one. */
  readonly toLimit: (tier: string | null) => SpendingLimit;
  readonly promised?: PendingKey<Credit> | undefined;
}

const balanceRow = z.object({
  tier: z.string().nullable(),
  factor: z.number().nullable(),
  period_start: z.date().nullable(),
  spent: z.number(),
  reserved: z.number(),
  credit: z.number(),
  now: z.date(),
});

const readBalance = createQuery(
  balanceRow,
  `
select tier, price_factor::float as factor, period_start, coalesce(spent_usd, 0)::float as spent, coalesce(reserved_usd, 0)::float as reserved,
  coalesce(credit_usd, 0)::float as credit, clock_timestamp() as now
from accounts left join account_balances on account_id = accounts.id
where accounts.id = $1`,
);

const readSpent = createQuery(z.object({ spent: z.number() }), `select (${selectSpent('$1', '$2')})::float as spent`);

const writeFactor = `update account_balances set price_factor = $2::float where account_id = $1`;

const writeCredit = createQuery(
  z.object({ created_at: z.date() }),
  `
with given as (
  insert into account_credits (id, account_id, usd, reason, given_by) values ($1, $2, $3::float, $4, $5)
  returning account_id, usd, created_at
)
update account_balances set credit_usd = credit_usd + given.usd from given
where account_balances.account_id = given.account_id
returning given.created_at`,
);

/** What accounts may spend, have spent and have left. */
export class Balances {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** Rejects with `account_not_found`. `toLimit` gets the name of the account's tier. */
  async of(account: AccountId, toLimit: (tier: string | null) => SpendingLimit): Promise<AccountBalance> {
    const { sql } = this.database;
    const row = await readBalance.first(sql, [account]);
    if (!row) throw accountNotFound(account);
    const { tier, factor, reserved, credit, now } = row;
    const { start, end } = periodAt(toLimit(tier).period, now);
    const isCurrent = row.period_start?.getTime() === start.getTime();
    const spent = isCurrent ? row.spent : await this.readSpent(account, start);
    const funds = { spentUsd: spent, reservedUsd: reserved, creditUsd: credit };
    return { tier, priceFactor: factor, periodStart: start, periodEnd: end, ...funds };
  }

  toTerms(account: AccountId): Promise<AccountTerms> {
    return readTerms(this.database.sql, account);
  }

  /** Rejects with `account_not_found`. */
  setTier({ accountId: account, tier, priceFactor }: TierOrder): Promise<void> {
    return this.database.transaction(async (sql) => {
      await lockTier(sql, account, tier);
      await writeTier(sql, account, { tier: tier.name, limit: tier });
      await sql.query(writeFactor, [account, priceFactor ?? null]);
    });
  }

  /** Rejects with `account_not_found`. */
  give({ accountId: account, usd, reason, givenBy, toLimit, promised }: CreditOrder): Promise<Credit> {
    return this.database.transaction(async (sql) => {
      const tier = await lockTier(sql, account, toLimit(null));
      await writeTier(sql, account, { tier, limit: toLimit(tier) });
      const id = creditId.parse(`crd_${this.newId()}`);
      const text = reason === undefined ? null : toStoredText(reason);
      const row = await writeCredit.first(sql, [id, account, usd, text, givenBy]);
      if (!row) throw accountNotFound(account);
      return storeResponse(sql, promised, { id, usd, reason: text, created_at: row.created_at.toISOString() });
    });
  }

  private async readSpent(account: AccountId, since: Date): Promise<number> {
    const row = await readSpent.first(this.database.sql, [account, since]);
    return row?.spent ?? 0;
  }
}

/** The day or the month (UTC) of a time. */
function periodAt(period: SpendingLimit['period'], at: Date): { start: Date; end: Date } {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  return period === 'day'
    ? { start: new Date(Date.UTC(year, month, day)), end: new Date(Date.UTC(year, month, day + 1)) }
    : { start: new Date(Date.UTC(year, month)), end: new Date(Date.UTC(year, month + 1)) };
}
