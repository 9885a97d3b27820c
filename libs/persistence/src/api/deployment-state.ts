import type { Database } from '../database/database';
import { z } from 'zod';
import { createQuery } from '../database/checked-query';

/** What the rows of all accounts say about the work that is under way. */
export interface DeploymentState {
  /** Runs that are not over, by status. */
  readonly runs: Readonly<Record<string, number>>;
  /** Runs that wait for a worker, by queue. */
  readonly due: Readonly<Record<string, number>>;
  /** For how many seconds the one that is due longest has waited, by queue. */
  readonly oldestDueS: Readonly<Record<string, number>>;
  /** The processes that hold runs: how many, and when the first of their leases ends unless it is renewed. */
  readonly workers: readonly { readonly id: string; readonly runs: number; readonly leaseExpiresAt: string }[];
  /** Jobs that are not in Redis yet. */
  readonly outbox: { readonly entries: number; readonly oldestAt: string | null };
}

const unfinished = createQuery(
  z.object({ status: z.string(), runs: z.number() }),
  `select status, count(*)::int as runs from runs where finished_at is null group by status`,
);

const unclaimed = createQuery(
  z.object({ queue: z.string(), runs: z.number(), oldestS: z.number().nullable() }),
  `
select queue, count(*)::int as runs,
  greatest(0, extract(epoch from clock_timestamp() - min(activated_at)))::float8 as "oldestS"
from runs where holds_thread and waiting is null and lease_owner is null group by queue`,
);

const holders = createQuery(
  z.object({ id: z.string(), runs: z.number(), leaseExpiresAt: z.date() }),
  `
select lease_owner as id, count(*)::int as runs, min(lease_expires_at) as "leaseExpiresAt" from runs
where holds_thread and waiting is null and lease_owner is not null group by lease_owner order by lease_owner`,
);

const undelivered = createQuery(
  z.object({ entries: z.number(), oldestAt: z.date().nullable() }),
  `select count(*)::int as entries, min(created_at) as "oldestAt" from outbox`,
);

/** Reads by indexes of what is unfinished, so that it costs what is under way and not what was done. */
export async function readDeploymentState({ sql }: Pick<Database, 'sql'>): Promise<DeploymentState> {
  const [byStatus, byQueue, workers, outbox] = await Promise.all([
    unfinished.all(sql),
    unclaimed.all(sql),
    holders.all(sql),
    undelivered.first(sql),
  ]);
  return {
    runs: Object.fromEntries(byStatus.map(({ status, runs }) => [status, runs])),
    due: Object.fromEntries(byQueue.map(({ queue, runs }) => [queue, runs])),
    oldestDueS: Object.fromEntries(byQueue.map(({ queue, oldestS }) => [queue, oldestS ?? 0])),
    workers: workers.map((worker) => ({ ...worker, leaseExpiresAt: worker.leaseExpiresAt.toISOString() })),
    outbox: { entries: outbox?.entries ?? 0, oldestAt: outbox?.oldestAt?.toISOString() ?? null },
  };
}
