import type { AccountId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Sql } from '../../database/sql';
import { lockAccount } from '../lock-account';
import { type QuotaUsage, readQuotaUsage } from './quota-usage';

/** What grows by as much as is written, and not by one. */
const sizes = ['message_bytes', 'image_bytes'] as const;

/** How much of each an account may have once something is written. */
export type QuotaBounds = Partial<Readonly<Record<keyof QuotaUsage, number>>>;

/** It would have more. */
export class QuotaReached extends TerminalError {
  override readonly name = 'QuotaReached';

  constructor(
    readonly quota: keyof QuotaUsage,
    /** What the account has without what was refused. */
    readonly used: number,
    readonly limit: number,
  ) {
    super('quota_exceeded', `This account may have ${limit} ${quota.replaceAll('_', ' ')}, and has ${used}.`);
  }
}

/**
 * The check and the write are one: with bounds, transactions of an account that write within some come one after the other, through
 * whichever process. Call it first in a transaction, since it locks the account. Rejects with QuotaReached, which is to end the transaction.
 */
export async function writeWithin<Written>(
  sql: Sql,
  { accountId, bounds }: { readonly accountId: AccountId; readonly bounds?: QuotaBounds | undefined },
  write: () => Promise<Written>,
): Promise<Written> {
  if (!bounds) return write();
  await lockAccount(sql, accountId);
  const names = Object.keys(bounds) as (keyof QuotaUsage)[]; // the keys of QuotaBounds
  const before = await readQuotaUsage({ sql }, accountId, names);
  const refuse = (isOver: (name: keyof QuotaUsage, limit: number) => boolean, some: readonly (keyof QuotaUsage)[]) => {
    for (const name of some) {
      const limit = bounds[name] ?? Infinity;
      if (isOver(name, limit)) throw new QuotaReached(name, before[name], limit);
    }
  };
  refuse((name, limit) => before[name] >= limit, names);
  const written = await write();
  const grown = sizes.filter((name) => bounds[name] !== undefined);
  if (grown.length === 0) return written;
  const after = await readQuotaUsage({ sql }, accountId, grown);
  refuse((name, limit) => after[name] > limit, grown);
  return written;
}
