import type { AccountId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Sql } from '../../database/sql';
import { z } from 'zod';
import { checked } from '../../database/checked-query';

/** Of one account. */
export const mostTriggers = 1_000;

const lockAccount = `select id from accounts where id = $1 for no key update`;
const countTriggers = checked(
  z.object({ count: z.number() }),
  `select count(*)::int as count from triggers where account_id = $1`,
);

/** Rejects with `too_many_triggers`. Until the transaction ends, the account gets no other trigger. */
export async function requireFreePlace(sql: Sql, accountId: AccountId): Promise<void> {
  await sql.query(lockAccount, [accountId]);
  const row = await countTriggers.first(sql, [accountId]);
  if (row === undefined || row.count < mostTriggers) return;
  throw new TerminalError('too_many_triggers', `An account may have ${mostTriggers} schedules and triggers.`);
}
