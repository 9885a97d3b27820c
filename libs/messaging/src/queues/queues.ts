import { runId, threadId } from '@rondo/contract';
import type { RunQueueName } from '@rondo/domain';
import type { QueueOptions, WorkerOptions } from 'bullmq';
import { z } from 'zod';

/**
 * A job says that it is time to look at something; what is to be done stands in Postgres. It is tried once and then
 * forgotten, because a finished job that is kept would silently swallow a new one with its id (R9).
 */
const defaultJobOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

/** Options of every queue but the connection. Small event streams: nobody reads them but the dashboard (R12). */
export const queueOptions = {
  defaultJobOptions,
  streams: { events: { maxLen: 1_000 } },
} as const satisfies Omit<QueueOptions, 'connection'>;

/**
 * Options of every worker but the connection. BullMQ never decides that a job runs again (R7): a worker whose lock was
 * lost has lost its lease too, and the lease is what counts.
 */
const workerOptions = ({ concurrency }: { concurrency: number }) =>
  ({
    concurrency,
    lockDuration: 60_000,
    maxStalledCount: 0,
    ...{ removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } },
  }) as const satisfies Omit<WorkerOptions, 'connection'>;

const job = z.object({ run_id: runId, thread_id: threadId });

export const queues = {
  /** A run is due: take it, if it still is. */
  runs: { name: 'runs', job, workerOptions },
  /** The same for a run whose older messages are to be folded into a summary. */
  compactions: { name: 'compactions', job, workerOptions },
} as const satisfies Record<RunQueueName, { name: RunQueueName; job: typeof job; workerOptions: typeof workerOptions }>;
