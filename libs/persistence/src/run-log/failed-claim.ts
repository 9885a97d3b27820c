import type { RunId } from '@rondo/contract';
import { type RunQueueName, UnreadableRunError } from '@rondo/domain';
import type { Sql } from '../database/sql';
import { isAtFault } from '../database/sql-error';
import { isDatabaseUnavailable } from '../database/unavailable';

export interface FailedClaim {
  /** Of a claim that was committed and counted before the run turned out to be unreadable. */
  readonly epoch: number | null;
  readonly cause: unknown;
}

/**
 * What the failed statement counted was rolled back with it, so it is counted here. No job says that the run is due
 * again: the reaper does so a few seconds later, when it finds the job missing, so that ten tries take a while.
 */
const count = `
update runs set
  fruitless_claims = fruitless_claims + $4,
  status = case when stop_requested_at is null then 'queued' else 'stopping' end,
  lease_owner = null,
  lease_expires_at = null,
  activated_at = clock_timestamp()
where id = $1 and queue = $2 and holds_thread is true and waiting is null
  and (lease_owner is null or lease_expires_at < clock_timestamp() or epoch = $3)
returning fruitless_claims`;

/** A database that is away or overloaded says nothing about the run. */
export async function countFailedClaim(sql: Sql, claim: FailedClaim & RunOfQueue): Promise<never> {
  const { id, queue, epoch, cause } = claim;
  const isTheRun = isAtFault(cause) || !isDatabaseUnavailable(cause);
  const alreadyCounted = epoch === null ? 0 : 1;
  if (!isTheRun && !alreadyCounted) throw cause;

  const more = (isTheRun ? 1 : 0) - alreadyCounted;
  const [counted] = await sql.query<{ fruitless_claims: number }>(count, [id, queue, epoch, more]);
  throw counted && isTheRun ? new UnreadableRunError(id, counted.fruitless_claims, { cause }) : cause;
}

interface RunOfQueue {
  readonly id: RunId;
  readonly queue: RunQueueName;
}
