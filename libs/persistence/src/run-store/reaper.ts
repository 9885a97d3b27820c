import type { Sql } from '../sql';
import { dueAgain, outboxOf } from './activation';

/** Bounds one round; the next one goes on. */
const maxRound = 500;

/** After this long in the queue a run's job may be missing: Redis was flushed (I1), or a crash came before the job. */
const missedAfterMs = 5_000;

/** Not within one lease of the start of Postgres: living holders renew first, and no mass takeover happens (R1). */
const databaseIsSettled = `clock_timestamp() > pg_postmaster_start_time() + $1::int * interval '1 ms'`;

/** Takes the lease from holders that have gone silent and queues their runs; rows that others work on are left alone. */
const queueAbandoned = `
with abandoned as materialized (
  select id from runs
  where holds_thread and status in ('queued', 'running', 'stopping') and lease_expires_at < clock_timestamp() and ${databaseIsSettled}
  order by id limit ${maxRound} for no key update skip locked
),
activated as (
  update runs set ${dueAgain}
  from abandoned where runs.id = abandoned.id
  returning runs.id, activation
)
${outboxOf('activated')} returning id`;

/** The same activation again: where the job still waits, adding it a second time adds nothing (R9). */
const queueMissing = `
with missing as materialized (
  select id from runs
  where holds_thread and status in ('queued', 'stopping') and lease_owner is null
    and activated_at < clock_timestamp() - ${missedAfterMs} * interval '1 ms'
  order by activated_at limit ${maxRound} for no key update skip locked
),
activated as (
  update runs set activated_at = clock_timestamp() from missing where runs.id = missing.id returning runs.id, activation
)
${outboxOf('activated')} returning id`;

/**
 * Finds the runs that nobody will wake. Recovery is bounded by progress, not by attempts: a run is queued as often as
 * its holder dies.
 */
export class Reaper {
  private databaseWasAway = false;
  private quietUntil = 0;

  constructor(
    private readonly sql: Sql,
    private readonly leaseMs: number,
  ) {}

  /** Rejects while Postgres is away; when it is back, other workers get one lease of time to renew theirs first (R1). */
  async reap(): Promise<number> {
    try {
      const missing = await this.sql.query(queueMissing);
      if (this.databaseWasAway) this.quietUntil = performance.now() + this.leaseMs;
      this.databaseWasAway = false;
      if (performance.now() < this.quietUntil) return missing.length;

      const abandoned = await this.sql.query(queueAbandoned, [this.leaseMs]);
      return missing.length + abandoned.length;
    } catch (error) {
      this.databaseWasAway = true;
      throw error;
    }
  }
}
