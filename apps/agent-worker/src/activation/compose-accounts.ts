import type { AccountId } from '@rondo/contract';
import { type CallSize, type ModelProviders, mostCallCost, readTiers } from '@rondo/domain';
import { QueueShares, usualQueueShare } from '@rondo/messaging';
import { AccountSpending, type Database, type Reservations } from '@rondo/persistence';
import type { Config } from '../config';
import { AccountBudgets } from './account-budgets';
import { AccountReservations } from './account-reservations';

export function toAccountBudgets(database: Database, config: Config, failed: (error: unknown) => void): AccountBudgets {
  const spending = new AccountSpending(database);
  return new AccountBudgets({
    usd: config.ACCOUNT_BUDGET_USD,
    tokens: config.ACCOUNT_BUDGET_TOKENS,
    period: config.ACCOUNT_BUDGET_PERIOD,
    spentBy: (id, period) => spending.ofRun(id, period),
    nowMs: () => performance.now(),
    failed,
  });
}

/** Undefined where accounts have no tiers. */
export function findReservations(
  reservations: Reservations,
  { ACCOUNT_TIERS }: Config,
  providers: ModelProviders,
): AccountReservations | undefined {
  const tiers = readTiers(ACCOUNT_TIERS);
  const computeCost = (size: CallSize) => mostCallCost(size, providers, Date.now());
  return tiers && new AccountReservations({ tiers, reservations, computeCost, nowMs: () => performance.now() });
}

/** Of the queue of tool calls. A tier may set another share. */
export function createQueueShares({ REDIS_URL: url, ACCOUNT_TIERS }: Config, reservations: Reservations): QueueShares {
  const tiers = readTiers(ACCOUNT_TIERS);
  if (!tiers) return new QueueShares({ url });
  const readLimit = async (account: AccountId) => {
    const { tier } = await reservations.toTerms(account);
    return tiers.of(tier).quotas?.waiting_call_bytes ?? usualQueueShare;
  };
  return new QueueShares({ url, readLimit });
}
