import type { ThreadId } from '@rondo/contract';
import type { Database } from '../../database/database';
import type { RunAddress } from './lock-run';

const leaseOwner = `
select lease_owner as "workerId", thread_id as "threadId" from runs
where id = $1 and account_id = $2 and lease_owner is not null`;

/** A worker that holds a run now, as far as Postgres knows, and where the run stands. */
export interface RunHolder {
  readonly workerId: string;
  readonly threadId: ThreadId;
}

export async function holderOf({ sql }: Database, { accountId, runId }: RunAddress): Promise<RunHolder | undefined> {
  const [held] = await sql.query<RunHolder>(leaseOwner, [runId, accountId]);
  return held;
}
