import type { AccountId } from '@rondo/contract';
import { type Claim, ClaimLostError } from '@rondo/domain';
import type { Database } from '../../database/database';
import { spentNow } from '../../run-log/settle-calls';
import { type AccountTerms, type SpendingLimit, lockedTier, readTerms, writeTier } from './balance-row';

/** The most that the account is expected to be charged for the next model call of a run. */
export interface ReservationOrder {
  readonly claim: Pick<Claim, 'runId' | 'epoch'>;
  readonly usd: number;
  readonly limit: Required<SpendingLimit>;
}

/**
 * `held`: the balance covers the call once other runs have settled theirs. `uncounted`: the account has no balance yet, or
 * one of another period.
 */
export type ReservationVerdict = 'granted' | 'held' | 'lacking' | 'uncounted';

interface Verdict {
  readonly account_id: AccountId | null;
  readonly is_granted: boolean | null;
  readonly is_affordable: boolean | null;
}

/**
 * Locks the run, its reservation, then the balance, in the order of the append and of `releaseAbandoned`: any other order can
 * deadlock with them. (The condition on `own` locks it before the balance.) What a lock returns is the newest version, also
 * after a wait for another writer. An earlier reservation of the run is replaced: its call is over, or was that of a lost
 * claim. If the call is not granted, it stays.
 */
const reserve = `
with run as materialized (
  select account_id from runs where id = $1 and epoch = $2 and lease_owner is not null for no key update
),
own as materialized (
  select usd from reservations where run_id = $1 and exists (select from run) for no key update
),
balance as materialized (
  select account_id, reserved_usd, credit_usd, ${spentNow} as spent from account_balances
  where (select count(*) from own) < 2 and account_id = (select account_id from run) and period = $4
  for no key update
),
state as (
  select account_id, spent, reserved_usd, reserved_usd - coalesce((select usd from own), 0) as of_others,
    greatest($5::float::numeric - spent, 0) + credit_usd as remaining
  from balance
),
verdict as materialized (
  select *, $3::float::numeric as wanted, remaining - of_others >= $3::float::numeric as is_granted,
    remaining >= $3::float::numeric as is_affordable
  from state
),
reserved as (
  update account_balances set
    reserved_usd = case when is_granted then of_others + wanted else verdict.reserved_usd end,
    spent_usd = verdict.spent, allowance_usd = $5::float, period_start = date_trunc($4, now(), 'UTC')
  from verdict where account_balances.account_id = verdict.account_id
),
kept as (
  insert into reservations (run_id, account_id, epoch, usd) select $1, account_id, $2, wanted from verdict where is_granted
  on conflict (run_id) do update set epoch = excluded.epoch, usd = excluded.usd
)
select (select account_id from run) as account_id, is_granted, is_affordable
from (select 1) as always left join verdict on true`;

/**
 * Of calls whose run was released, claimed again or deleted. A run that is claimed meanwhile has a row of its own epoch. A
 * reservation that another statement has locked is being replaced or settled by it, and is left to that.
 */
const releaseAbandoned = `
with abandoned as materialized (
  select run_id, reservations.epoch from reservations left join runs on runs.id = run_id
  where runs.id is null or runs.epoch <> reservations.epoch or lease_owner is null
  limit 500
  for update of reservations skip locked
),
released as (
  delete from reservations using abandoned
  where reservations.run_id = abandoned.run_id and reservations.epoch = abandoned.epoch
  returning account_id, usd
),
returned as (
  update account_balances set reserved_usd = reserved_usd - back.usd
  from (select account_id, sum(usd) as usd from released group by account_id order by account_id) as back
  where account_balances.account_id = back.account_id
)
select account_id from released`;

/** Reserves the cost of model calls in the balances of accounts. The append settles them. */
export class Reservations {
  constructor(private readonly database: Database) {}

  /** Rejects with ClaimLostError. */
  async reserve({ claim, usd, limit }: ReservationOrder): Promise<ReservationVerdict> {
    const values = [claim.runId, claim.epoch, usd, limit.period, limit.usd];
    const [verdict] = await this.database.sql.query<Verdict>(reserve, values);
    if (verdict?.account_id == null) throw new ClaimLostError(claim.runId);
    if (verdict.is_granted === null) return 'uncounted';
    if (verdict.is_granted) return 'granted';
    return verdict.is_affordable ? 'held' : 'lacking';
  }

  /** Counts what the account has spent in the period, after `uncounted`. Rejects if the account is being removed. */
  count(account: AccountId, limit: SpendingLimit): Promise<void> {
    return this.database.transaction(async (sql) => {
      await writeTier(sql, account, { tier: await lockedTier(sql, account, limit), limit });
    });
  }

  termsOf(account: AccountId): Promise<AccountTerms> {
    return readTerms(this.database.sql, account);
  }

  /** Returns what was reserved for calls that nothing will settle, at most 500. Resolves to their number. */
  async releaseAbandoned(): Promise<number> {
    return (await this.database.sql.query(releaseAbandoned)).length;
  }
}
