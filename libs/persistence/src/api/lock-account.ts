import type { AccountId } from '@rondo/contract';
import type { Sql } from '../database/sql';

const lockRow = `select from accounts where id = $1 for no key update`;

/** Lets transactions that count what an account has come one after the other, so that no two of them pass a limit together. */
export const lockAccount = async (sql: Sql, accountId: AccountId): Promise<void> => {
  await sql.query(lockRow, [accountId]);
};
