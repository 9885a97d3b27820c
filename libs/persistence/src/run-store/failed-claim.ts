import type { RunId } from '@rondo/contract';
import { NewerRunError, type RunQueueName, UnreadableRunError } from '@rondo/domain';
import type { Sql } from '../database/sql';
import { isAtFault } from '../database/sql-error';
import { isDatabaseUnavailable } from '../database/unavailable';

export interface FailedClaim {
  /** The epoch of a claim that was committed before reading failed; null when the claim was rolled back. */
  readonly epoch: number | null;
  readonly cause: unknown;
}

/**
 * A failed claim statement rolls its count back, so the claim is counted here. No job is queued: the reaper queues one a
 * few seconds later, when it finds it missing, which spaces the ten attempts.
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

/** Uncounted, and behind the other runs of the account, or this version would claim it again before them. */
const leave = `
update runs set
  fruitless_claims = greatest(fruitless_claims - 1, 0),
  status = case when stop_requested_at is null then 'queued' else 'stopping' end,
  lease_owner = null,
  lease_expires_at = null,
  due_since = clock_timestamp(),
  activated_at = clock_timestamp()
where id = $1 and epoch = $2 and lease_owner is not null`;

/** Counts a claim that failed because of the run. Errors of an unavailable or overloaded database do not count, nor does a run of a newer version. */
export async function countFailedClaim(sql: Sql, claim: FailedClaim & RunOfQueue): Promise<never> {
  const { id, queue, epoch, cause } = claim;
  if (cause instanceof NewerRunError) {
    await sql.query(leave, [id, epoch]);
    throw cause;
  }
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
