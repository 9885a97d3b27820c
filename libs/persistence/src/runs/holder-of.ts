import type { Database } from '../database';
import type { RunAddress } from './lock-run';

const leaseOwner = 'select lease_owner from runs where id = $1 and account_id = $2';

/** The worker that holds a run now, as far as Postgres knows. */
export async function holderOf({ sql }: Database, { accountId, runId }: RunAddress): Promise<string | undefined> {
  const [held] = await sql.query<{ lease_owner: string | null }>(leaseOwner, [runId, accountId]);
  return held?.lease_owner ?? undefined;
}
