import type { AccountId } from '@rondo/contract';
import { type Claim, ClaimLostError } from '@rondo/domain';
import type { Database } from '../../database/database';
import { LastingKeys } from '../../database/lasting-keys';
import { spentNow } from '../../run-log/settle-calls';
import { type AccountTerms, type SpendingLimit, lockTier, readTerms, writeTier } from './balance-row';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';

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
 * after a wait for another writer. An earlier reservation of the run is replaced: its call is over. If the call is not
 * granted, it stays, for the reply that the call continues; that of a lost claim is returned, so that runs which take over
 * do not wait for each other.
 */
const reserve = `
with run as materialized (
  select account_id from runs where id = $1 and epoch = $2 and lease_owner is not null for no key update
),
own as materialized (
  select usd, epoch from reservations where run_id = $1 and exists (select from run) for no key update
),
balance as materialized (
  select account_id, reserved_usd, credit_usd, ${spentNow} as spent from account_balances
  where (select count(*) from own) < 2 and account_id = (select account_id from run) and period = $4
  for no key update
),
state as (
  select account_id, spent, reserved_usd - coalesce((select usd from own), 0) as of_others,
    coalesce((select usd from own where epoch = $2), 0) as of_claim,
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
    reserved_usd = of_others + case when is_granted then wanted else of_claim end,
    spent_usd = verdict.spent, allowance_usd = $5::float, period_start = date_trunc($4, now(), 'UTC')
  from verdict where account_balances.account_id = verdict.account_id
),
kept as (
  insert into reservations (run_id, account_id, epoch, usd) select $1, account_id, $2, wanted from verdict where is_granted
  on conflict (run_id) do update set epoch = excluded.epoch, usd = excluded.usd
),
returned as (
  delete from reservations using verdict where run_id = $1 and epoch <> $2 and not is_granted
)
select (select account_id from run) as account_id, is_granted, is_affordable
from (select 1) as always left join verdict on true`;

/** Bounds one statement; the next pass continues. */
const maxRound = 500;

/** A claim that was lost, as one text. */
const lostClaim = `run_id || ' ' || runs.epoch`;

const unclaimed = createQuery(
  z.object({ claim: z.string() }),
  `
select ${lostClaim} as claim from reservations join runs on runs.id = run_id
where lease_owner is null order by run_id limit ${maxRound}`,
);

/**
 * Of runs that are over, and of those runs that still are without a claim. A reservation that another statement has locked
 * is being replaced or settled by it, and is left to that.
 */
const releaseAbandoned = `
with abandoned as materialized (
  select run_id, reservations.epoch from reservations left join runs on runs.id = run_id
  where runs.id is null or not holds_thread or waiting is not null or (lease_owner is null and ${lostClaim} = any($1::text[]))
  limit ${maxRound}
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

/** A run is claimed again within seconds, unless workers are lacking or all wait for what it has reserved. */
const waitForClaimMs = 60_000;

/** Reserves the cost of model calls in the balances of accounts. The append settles them. */
export class Reservations {
  private readonly lost: LastingKeys;

  constructor(
    private readonly database: Database,
    keptMs = waitForClaimMs,
  ) {
    this.lost = new LastingKeys(keptMs);
  }

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
      await writeTier(sql, account, { tier: await lockTier(sql, account, limit), limit });
    });
  }

  toTerms(account: AccountId): Promise<AccountTerms> {
    return readTerms(this.database.sql, account);
  }

  /**
   * Returns what was reserved for calls that nothing will settle, at most 500. What the call of a lost claim has cost may
   * have to be recorded by the next one, so that its reservation is kept for `keptMs`. Resolves to their number.
   */
  async releaseAbandoned(): Promise<number> {
    const lost = await unclaimed.all(this.database.sql);
    const forLong = this.lost.of(lost.map(({ claim }) => claim));
    return (await this.database.sql.query(releaseAbandoned, [forLong])).length;
  }
}
