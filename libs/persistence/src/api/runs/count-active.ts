import type { AccountId } from '@rondo/contract';
import type { Sql } from '../../database/sql';

export const activeRuns = `
select count(*)::int as active
from (select from runs where account_id = $1 and finished_at is null limit $2) as counted`;

/** The account's runs that are not over, those that wait too. Counts no further than `atMost`. */
export async function countActive(sql: Sql, accountId: AccountId, atMost: number): Promise<number> {
  const [row] = await sql.query<{ active: number }>(activeRuns, [accountId, atMost]);
  return row?.active ?? 0;
}
