import type { RunId } from '@rondo/contract';
import type { Sql } from '../database/sql';
import { isDatabaseUnavailable } from '../database/unavailable';
import { activated, dueAgain, toOutbox } from '../database/run-activation';

/** By then the answer to a claim has arrived, or is lost. */
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
