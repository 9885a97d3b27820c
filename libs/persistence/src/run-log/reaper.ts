import { isDead } from '../database/liveness-lock';
import type { Sql } from '../database/sql';
import { activated, dueAgain, outboxOf } from './activation';
import { DeadHolders } from './dead-holders';

/** Bounds one round; the next one goes on. */
const maxRound = 500;

export interface ReaperPatience {
  readonly leaseMs: number;
  /** For so long a holder may be absent: as long as it takes to replace a connection that broke. */
  readonly absentMs: number;
  /** After this long in the queue a run's job may be missing: Redis was flushed (I1), or a crash came before the job. */
  readonly missedAfterMs: number;
  /** For so long a run may be the summarizers' without one of them holding it. Then it goes on without a summary. */
  readonly compactionMs: number;
}

const defaultPatience: ReaperPatience = {
  leaseMs: 15_000,
  absentMs: 1_000,
  missedAfterMs: 5_000,
  compactionMs: 60_000,
};

const isActive = `holds_thread and waiting is null`;

/** Not within one lease of the start of Postgres: living holders renew first, and no mass takeover happens (R1). */
const databaseIsSettled = `clock_timestamp() > pg_postmaster_start_time() + $1::int * interval '1 ms'`;

/** Takes the lease from holders that have gone silent and queues their runs; rows that others work on are left alone. */
const queueAbandoned = `
with abandoned as materialized (
  select id from runs
  where ${isActive} and lease_expires_at < clock_timestamp() and ${databaseIsSettled}
  order by id limit ${maxRound} for no key update skip locked
),
activated as (
  update runs set ${dueAgain}
  from abandoned where runs.id = abandoned.id
  returning ${activated}
)
${outboxOf('activated')} returning id`;

/**
 * The same for holders that are gone and whose leases are still good. Who removes their rows queues their runs, and waits
 * for what they have not finished writing. What they had taken off the queue without having claimed it cannot be told
 * from what waits there, so both are queued: of two jobs, one finds nothing to do.
 */
const queueLeftBehind = `
with gone as (
  delete from presences where owner = any($1::text[]) and ${isDead} returning owner
),
abandoned as materialized (
  select id from runs join gone on lease_owner = owner where ${isActive} order by id for no key update of runs
),
unclaimed as materialized (
  select id from runs
  where ${isActive} and lease_owner is null and activated_at < clock_timestamp() - $2::int * interval '1 ms'
    and exists (select from gone)
  order by activated_at limit ${maxRound} for no key update skip locked
),
activated as (
  update runs set ${dueAgain}
  where id in (select id from abandoned union all select id from unclaimed)
  returning ${activated}
)
${outboxOf('activated')} returning id`;

/** The same activation again: where the job still waits, adding it a second time adds nothing (R9). */
const queueMissing = `
with missing as materialized (
  select id from runs
  where ${isActive} and lease_owner is null and activated_at < clock_timestamp() - $1::int * interval '1 ms'
  order by activated_at limit ${maxRound} for no key update skip locked
),
activated as (
  update runs set activated_at = clock_timestamp() from missing where runs.id = missing.id returning ${activated}
)
${outboxOf('activated')} returning id`;

/** A summarizer that dies again and again has used up the run's patience too. */
const bringBackFromCompaction = `
with forgotten as materialized (
  select id from runs
  where ${isActive} and queue = 'compactions' and lease_owner is null
    and queue_since < clock_timestamp() - $1::int * interval '1 ms'
  order by id limit ${maxRound} for no key update skip locked
),
activated as (
  update runs set queue = 'runs', queue_since = clock_timestamp(), ${dueAgain}
  from forgotten where runs.id = forgotten.id
  returning ${activated}
)
${outboxOf('activated')} returning id`;

/** Finds the runs that nobody will wake. How often that may happen to a run is judged by who claims it next. */
export class Reaper {
  private readonly patience: ReaperPatience;
  private readonly rollCall: DeadHolders;
  private databaseWasAway = false;
  private quietUntil = 0;

  constructor(
    private readonly sql: Sql,
    patience: Partial<ReaperPatience>,
  ) {
    this.patience = { ...defaultPatience, ...patience };
    this.rollCall = new DeadHolders(sql, this.patience.absentMs);
  }

  /** Rejects while Postgres is away; when it is back, other workers get one lease of time to renew theirs first (R1). */
  async reap(): Promise<number> {
    const { leaseMs, missedAfterMs, compactionMs } = this.patience;
    const found = await this.ask(async () => {
      const forgotten = await this.sql.query(bringBackFromCompaction, [compactionMs]);
      const missing = await this.sql.query(queueMissing, [missedAfterMs]);
      return forgotten.length + missing.length;
    });
    if (this.isQuiet) return found;

    return found + (await this.ask(() => this.sql.query(queueAbandoned, [leaseMs]))).length;
  }

  /** The same for the runs of holders that are seen to be dead, before their leases run out. Call it more often. */
  async reapAbsent(): Promise<number> {
    const gone = await this.ask(() => this.rollCall.find());
    if (this.isQuiet || gone.length === 0) return 0;

    return (await this.ask(() => this.sql.query(queueLeftBehind, [gone, this.patience.absentMs]))).length;
  }

  private get isQuiet(): boolean {
    return performance.now() < this.quietUntil;
  }

  private async ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await question();
      if (this.databaseWasAway) this.quietUntil = performance.now() + this.patience.leaseMs;
      this.databaseWasAway = false;
      return answer;
    } catch (error) {
      this.databaseWasAway = true;
      throw error;
    }
  }
}
