import type { Sql } from '../sql';
import { activated, dueAgain, outboxOf } from './activation';

/** Bounds one round; the next one goes on. */
const maxRound = 500;

export interface ReaperPatience {
  readonly leaseMs: number;
  /** After this long in the queue a run's job may be missing: Redis was flushed (I1), or a crash came before the job. */
  readonly missedAfterMs: number;
  /** For so long a run may be the summarizers' without one of them holding it. Then it goes on without a summary. */
  readonly compactionMs: number;
}

const defaultPatience: ReaperPatience = { leaseMs: 15_000, missedAfterMs: 5_000, compactionMs: 60_000 };

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
  private databaseWasAway = false;
  private quietUntil = 0;

  constructor(
    private readonly sql: Sql,
    patience: Partial<ReaperPatience>,
  ) {
    this.patience = { ...defaultPatience, ...patience };
  }

  /** Rejects while Postgres is away; when it is back, other workers get one lease of time to renew theirs first (R1). */
  async reap(): Promise<number> {
    const { leaseMs, missedAfterMs, compactionMs } = this.patience;
    try {
      const forgotten = await this.sql.query(bringBackFromCompaction, [compactionMs]);
      const missing = await this.sql.query(queueMissing, [missedAfterMs]);
      const found = forgotten.length + missing.length;
      if (this.databaseWasAway) this.quietUntil = performance.now() + leaseMs;
      this.databaseWasAway = false;
      if (performance.now() < this.quietUntil) return found;

      return found + (await this.sql.query(queueAbandoned, [leaseMs])).length;
    } catch (error) {
      this.databaseWasAway = true;
      throw error;
    }
  }
}
