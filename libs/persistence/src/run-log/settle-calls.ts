/**
 * What an account pays for a model call, as SQL; null if its cost is not known. Rounded as balances are stored, so that they
 * equal the sum of the entries. Entries of versions without factors have none.
 */
export const chargeAmount = (costUsd: string, priceFactor: string): string =>
  `round(${costUsd}::numeric * coalesce(${priceFactor}, 1), 12)`;

/** What an account has spent in the period that it is now, of its row in `account_balances`. */
export const spentNow = `case when period_start = date_trunc(period, now(), 'UTC') then spent_usd else 0 end`;

/** What is spent beyond the allowance comes from the credit. Without an allowance, nothing does: `greatest` ignores nulls. */
const fromCredit = `greatest(${spentNow} + settled.cost - allowance_usd, 0) - greatest(${spentNow} - allowance_usd, 0)`;

/**
 * The part of an append that settles model calls: what was reserved for them is released, and what they are charged is
 * spent. `usage` is the set of usage entries. Locks balances in the order of their accounts, after the runs and threads.
 *
 * `factors` are PriceFactors as JSON; an account's own factor comes before that of its tier. A tier that changes meanwhile
 * is seen by the entry and by the balance or by neither, because both are written from `model_call`.
 *
 * The call that continues a reply is reserved with the one that it continues before that is recorded, so what is left of
 * the reservation stays.
 */
export const settleCalls = ({ usage, factors }: { usage: string; factors: string }): string => `
priced_call as (
  select usage.id, usage.cost_usd, usage.finish_reason, accepted.id as run_id, accepted.account_id,
    coalesce(balance.price_factor, (${factors} -> 'tiers' ->> balance.tier)::numeric, (${factors} ->> 'usual')::numeric)
      as price_factor
  from ${usage} join accepted on accepted.number = usage.batch
    left join account_balances as balance on balance.account_id = accepted.account_id
),
model_call as materialized (
  select id, run_id, account_id, price_factor, coalesce(${chargeAmount('cost_usd', 'price_factor')}, 0) as cost,
    finish_reason #>> '{}' = 'continued' as is_continued
  from priced_call
),
ended as (
  select id as run_id from accepted where ends_claim union select run_id from model_call where not is_continued
),
released as (
  delete from reservations using ended where reservations.run_id = ended.run_id
  returning reservations.account_id, reservations.usd
),
reduced as (
  update reservations set usd = usd - part.cost
  from (
    select run_id, sum(cost) as cost from model_call where run_id not in (select run_id from ended) group by run_id
  ) as part
  where reservations.run_id = part.run_id
  returning reservations.account_id, part.cost
),
settled as materialized (
  select account_id, sum(reserved) as reserved, sum(cost) as cost
  from (
    select account_id, usd as reserved, 0 as cost from released
    union all select account_id, cost, 0 from reduced
    union all select account_id, 0, cost from model_call
  ) as change
  group by account_id
),
charged as (
  update account_balances set
    reserved_usd = reserved_usd - settled.reserved,
    spent_usd = ${spentNow} + settled.cost,
    credit_usd = credit_usd - (${fromCredit}),
    period_start = date_trunc(period, now(), 'UTC')
  from (select * from settled order by account_id) as settled
  where account_balances.account_id = settled.account_id
),`;
