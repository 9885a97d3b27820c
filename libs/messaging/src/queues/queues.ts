import { runId, threadId } from '@rondo/contract';
import type { RunQueueName } from '@rondo/domain';
import type { QueueOptions, WorkerOptions } from 'bullmq';
import { z } from 'zod';

/**
 * A job carries an id; what is to be done is in Postgres. It is tried once and then removed, because BullMQ silently ignores
 * a new job with the id of a finished one that it keeps.
 */
const defaultJobOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

/** Options of every queue except the connection. Event streams are short: only the dashboard reads them, and they fill Redis. */
export const queueOptions = {
  defaultJobOptions,
  streams: { events: { maxLen: 1_000 } },
} as const satisfies Omit<QueueOptions, 'connection'>;

/**
 * Options of every worker except the connection. BullMQ never runs a job again by itself: it would take a worker with a
 * blocked event loop for dead and start the run twice. The lease in Postgres decides that.
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
  /** A run is due: claim it, if it still is. */
  runs: { name: 'runs', job, workerOptions },
  /** The same for a run whose older messages are to be summarized. */
  compactions: { name: 'compactions', job, workerOptions },
} as const satisfies Record<RunQueueName, { name: RunQueueName; job: typeof job; workerOptions: typeof workerOptions }>;
