import type { RunId } from '@rondo/contract';
import type { Claim, Renewal } from '@rondo/domain';
import type { Sql } from '../database/sql';
import { type StopColumns, readStop } from '../run-log/run-row';
import { isDatabaseUnavailable } from '../database/unavailable';
import { activated, dueAgain, toOutbox } from '../database/run-activation';

const renewHeldLeases = `
with held as (select * from unnest($2::text[], $3::int[]) as held(run_id, epoch)),
mine as materialized (
  select runs.id from runs join held on held.run_id = runs.id and held.epoch = runs.epoch
  where lease_owner = $1 order by runs.id for no key update of runs
),
renewed as (
  update runs set lease_expires_at = clock_timestamp() + $4::int * interval '1 ms'
  from mine where runs.id = mine.id
  returning runs.id, stop_requested_at, stop_reason, stop_error, coalesce(raised_in_epoch = runs.epoch, false) as told
)
select held.run_id, renewed.id is null as lost, stop_requested_at, stop_reason, stop_error, told
from held left join renewed on renewed.id = held.run_id`;

interface RenewedRow extends StopColumns {
  readonly run_id: RunId;
  readonly lost: boolean;
  readonly told: boolean | null;
}

export async function renewLeases(
  sql: Sql,
  { owner, held, leaseMs }: { owner: string; held: readonly Claim[]; leaseMs: number },
): Promise<Renewal> {
  if (held.length === 0) return { lost: [], stops: [], told: [] };

  const rows = await sql.query<RenewedRow>(renewHeldLeases, [
    owner,
    held.map(({ runId }) => runId),
    held.map(({ epoch }) => epoch),
    leaseMs,
  ]);
  return {
    lost: rows.filter(({ lost }) => lost).map(({ run_id }) => run_id),
    stops: rows.flatMap((row) => {
      const stop = readStop(row);
      return stop ? [{ runId: row.run_id, stop }] : [];
    }),
    told: rows.filter(({ told }) => told).map(({ run_id }) => run_id),
  };
}

/** The time after which the answer to a claim has arrived, or is lost. */
const answeredWithinMs = 2_000;

/** Leases that were renewed or claimed lately are left alone: those answers may be on their way. */
const releaseUnheld = `
with abandoned as materialized (
  select id from runs
  where holds_thread and waiting is null and lease_owner = $1 and not id = any($2::text[])
    and lease_expires_at < clock_timestamp() + $3::int * interval '1 ms'
  order by id for no key update skip locked
),
activated as (
  update runs set ${dueAgain} from abandoned where runs.id = abandoned.id returning ${activated}
)
${toOutbox('activated')} returning id`;

/**
 * Claims of this process whose answers were lost with a connection. Postgres may have committed them: then the run has an owner
 * that lives and does not know of it, and would wait for the end of its lease, and after a restart of Postgres for one more.
 */
export class UnansweredClaims {
  private lastAtMs = -Infinity;

  constructor(
    private readonly sql: Sql,
    private readonly leaseMs: number,
  ) {}

  /** Resolves and rejects like the claim. */
  async watch<Answer>(claim: Promise<Answer>): Promise<Answer> {
    try {
      return await claim;
    } catch (error) {
      if (isDatabaseUnavailable(error)) this.lastAtMs = performance.now();
      throw error;
    }
  }

  /** Queues the runs that Postgres says are the owner's, and that it does not hold. Call it now and then: it costs nothing unless a claim was not answered. */
  async release(owner: string, held: readonly RunId[]): Promise<number> {
    const sinceMs = performance.now() - this.lastAtMs;
    if (sinceMs === Infinity) return 0;
    const released = await this.sql.query(releaseUnheld, [owner, held, this.leaseMs - answeredWithinMs]);
    if (sinceMs > answeredWithinMs) this.lastAtMs = -Infinity;
    return released.length;
  }
}
