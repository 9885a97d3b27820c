import { isLate, isDead } from '../database/liveness-lock';
import { LastingKeys } from '../database/lasting-keys';
import type { Sql } from '../database/sql';
import { activated, dueAgain, toOutbox } from '../database/run-activation';

/** Bounds one statement; the next pass continues. */
const maxRound = 500;

export interface ReaperDelays {
  readonly leaseMs: number;
  /** How long a lock may be missing, or beats be late: the time to replace a broken connection. */
  readonly missingLockMs: number;
  /** After this time in the queue a job counts as missing: Redis was flushed (I1), or a crash prevented the job. */
  readonly missedAfterMs: number;
  /** How long a run may wait in the queue of summarizers without being claimed. Then it continues without a summary. */
  readonly compactionMs: number;
}

const defaultDelays: ReaperDelays = {
  leaseMs: 15_000,
  missingLockMs: 1_000,
  missedAfterMs: 5_000,
  compactionMs: 60_000,
};

const isActive = `holds_thread and waiting is null`;

/** False for one lease after Postgres has started: live owners renew first, so that not all runs are requeued. */
const databaseIsSettled = `clock_timestamp() > pg_postmaster_start_time() + $1::int * interval '1 ms'`;

/** Ends expired leases and queues their runs; skips rows that another process has locked. */
const requeueExpired = `
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
${toOutbox('activated')} returning id`;

/**
 * The same for dead owners whose leases are still valid. The process that deletes an owner's row queues its runs, and
 * waits for statements of the owner that still run. Jobs that the owner had received without claiming their runs cannot
 * be told from waiting ones, so both are queued again: the second job of a run finds nothing to do.
 */
const requeueRunsOfDeadHolders = `
with without_lock as (
  delete from presences where owner = any($1::text[]) and ${isDead} returning owner
),
late as (
  delete from heartbeats where owner = any($1::text[]) and ${isLate} returning owner
),
dead as (
  select owner from without_lock union select owner from late
),
abandoned as materialized (
  select id from runs join dead on lease_owner = owner where ${isActive} order by id for no key update of runs
),
unclaimed as materialized (
  select id from runs
  where ${isActive} and lease_owner is null and activated_at < clock_timestamp() - $2::int * interval '1 ms'
    and exists (select from dead)
  order by activated_at limit ${maxRound} for no key update skip locked
),
activated as (
  update runs set ${dueAgain}
  where id in (select id from abandoned union all select id from unclaimed)
  returning ${activated}
)
${toOutbox('activated')} returning id`;

/** Queues the same activation again: if its job still waits, the job's id makes the second one a no-op. */
const requeueMissingJobs = `
with missing as materialized (
  select id from runs
  where ${isActive} and lease_owner is null and activated_at < clock_timestamp() - $1::int * interval '1 ms'
  order by activated_at limit ${maxRound} for no key update skip locked
),
activated as (
  update runs set activated_at = clock_timestamp() from missing where runs.id = missing.id returning ${activated}
)
${toOutbox('activated')} returning id`;

/**
 * Not delayed by claims of summarizers that die: the time counts from the change of queue. A run that was told to stop while one
 * held it, which then died, waits for no other one: a worker ends it (I7).
 */
const returnFromCompaction = `
with waiting_runs as materialized (
  select id from runs
  where ${isActive} and queue = 'compactions' and lease_owner is null
    and (queue_since < clock_timestamp() - $1::int * interval '1 ms' or stop_requested_at is not null)
  order by id limit ${maxRound} for no key update skip locked
),
activated as (
  update runs set queue = 'runs', queue_since = clock_timestamp(), ${dueAgain}
  from waiting_runs where runs.id = waiting_runs.id
  returning ${activated}
)
${toOutbox('activated')} returning id`;

const deadOwners = `select owner from presences where ${isDead} union select owner from heartbeats where ${isLate}`;

/** Finds dead lease owners. One look is no proof: a live process whose connection broke locks again in a moment. */
class DeadHolders {
  private readonly looks: LastingKeys;

  constructor(
    private readonly sql: Sql,
    missingLockMs: number,
  ) {
    this.looks = new LastingKeys(missingLockMs);
  }

  /** Returns the owners that looked dead at every call for `missingLockMs`. */
  async find(): Promise<readonly string[]> {
    const dead = await this.sql.query<{ owner: string }>(deadOwners);
    return this.looks.of(dead.map(({ owner }) => owner));
  }
}

/** Finds the runs that no job will wake. The next claim decides how often that may happen to one run. */
export class Reaper {
  private readonly delays: ReaperDelays;
  private readonly deadHolders: DeadHolders;
  private databaseWasUnavailable = false;
  private graceUntil = 0;

  constructor(
    private readonly sql: Sql,
    delays: Partial<ReaperDelays>,
  ) {
    this.delays = { ...defaultDelays, ...delays };
    this.deadHolders = new DeadHolders(sql, this.delays.missingLockMs);
  }

  /** Rejects while Postgres is unavailable. Afterwards it waits one lease, so that live owners renew first. */
  async reap(): Promise<number> {
    const { leaseMs, missedAfterMs, compactionMs } = this.delays;
    const found = await this.query(async () => {
      const waiting = await this.sql.query(returnFromCompaction, [compactionMs]);
      const missing = await this.sql.query(requeueMissingJobs, [missedAfterMs]);
      return waiting.length + missing.length;
    });
    if (this.isGracePeriod) return found;

    return found + (await this.query(() => this.sql.query(requeueExpired, [leaseMs]))).length;
  }

  /** Queues the runs of dead owners before their leases expire. Call it more often than `reap`. */
  async reapDead(): Promise<number> {
    const dead = await this.query(() => this.deadHolders.find());
    if (this.isGracePeriod || dead.length === 0) return 0;

    return (await this.query(() => this.sql.query(requeueRunsOfDeadHolders, [dead, this.delays.missingLockMs]))).length;
  }

  private get isGracePeriod(): boolean {
    return performance.now() < this.graceUntil;
  }

  private async query<Result>(statements: () => Promise<Result>): Promise<Result> {
    try {
      const result = await statements();
      if (this.databaseWasUnavailable) this.graceUntil = performance.now() + this.delays.leaseMs;
      this.databaseWasUnavailable = false;
      return result;
    } catch (error) {
      this.databaseWasUnavailable = true;
      throw error;
    }
  }
}
