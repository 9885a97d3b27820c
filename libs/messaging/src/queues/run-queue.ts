import { setTimeout as sleep } from 'node:timers/promises';
import type { RunId, ThreadId } from '@rondo/contract';
import { type RunQueueName, TransientError } from '@rondo/domain';
import { type ConnectionOptions, Queue } from 'bullmq';
import { type Log, seldom } from '../log';
import { queueOptions } from './queues';

interface RunQueueOptions {
  /** See `producerConnection`. */
  readonly connection: ConnectionOptions;
  readonly log: Log;
  /** The workers' queue by default. */
  readonly name?: RunQueueName;
  /** The prefix of every key in Redis; BullMQ's own by default. */
  readonly prefix?: string;
}

/** A run, and which of its activations this is. */
interface Activation {
  readonly runId: RunId;
  readonly threadId: ThreadId;
  readonly activation: number;
}

/**
 * Notifies the workers of a queue that a run is due. Adding an activation again has no effect while its job waits or runs.
 * Every method rejects within seconds while Redis is away.
 */
export class RunQueue {
  readonly queue: Queue;
  private hasConnected = false;

  constructor({ connection, log, prefix, name = 'runs' }: RunQueueOptions) {
    this.queue = new Queue(name, { ...queueOptions, connection, ...(prefix !== undefined && { prefix }) });
    const report = seldom((error, about) => log.warn({ queue: name, error, ...about }, 'redis connection failed'));
    this.queue.on('error', report);
  }

  /** Not by `addAll`: adding in bulk costs more than a single job. */
  async add(activation: Activation): Promise<void> {
    await this.waitForConnection();
    const { name, data, opts } = asJob(activation);
    await this.queue.add(name, data, opts);
  }

  async addAll(activations: readonly Activation[]): Promise<void> {
    await this.waitForConnection();
    await this.queue.addBulk(activations.map(asJob));
  }

  /** The number of jobs that wait. */
  async waiting(): Promise<number> {
    await this.waitForConnection();
    return this.queue.getWaitingCount();
  }

  /** Rejects while Redis cannot be reached; for readiness checks. */
  async ping(): Promise<void> {
    await this.waiting();
  }

  /** Rejects where Redis is in cluster mode, for the start of a process. Resolves in a moment where Redis is away. */
  async refuseClusterMode(): Promise<void> {
    await this.waitForConnection().catch((error: unknown) => {
      if (error instanceof ClusterModeError) throw error;
    });
  }

  async close(): Promise<void> {
    await closeSoon(this.queue);
  }

  /** False, too, where the user may not ask. */
  private async isCluster(): Promise<boolean> {
    const client = await this.queue.backend.client;
    const info = await client.info().catch(() => '');
    return info.includes('cluster_enabled:1');
  }

  /** BullMQ waits for the first connection without limit; a request that adds a job must not. */
  private async waitForConnection(): Promise<void> {
    if (this.hasConnected) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new TransientError('Redis is away')), firstConnectionMs);
    });
    try {
      await Promise.race([this.queue.waitUntilReady(), late]);
      if (await this.isCluster()) throw new ClusterModeError();
      this.hasConnected = true;
    } finally {
      clearTimeout(timer);
    }
  }
}

const firstConnectionMs = 5_000;

/** The keys of a queue would be on several nodes, and its scripts need all of them. */
class ClusterModeError extends Error {
  constructor() {
    super(
      'Redis is in cluster mode, in which the queues cannot work: REDIS_URL must name a server without cluster mode.',
    );
  }
}

const asJob = ({ runId, threadId, activation }: Activation) => ({
  name: 'activate',
  data: { run_id: runId, thread_id: threadId },
  opts: { jobId: `${runId}-${activation}` },
});

const gracefulMs = 500;
const forcedMs = 1_000;

/**
 * Closes gracefully, and by force after a moment: BullMQ's close has no timeout, and a Redis that does not answer must not
 * keep a process from exiting. What Redis was not told is in Postgres.
 */
async function closeSoon(queue: Queue): Promise<void> {
  const closed = queue.close().then(() => true);
  if (await Promise.race([closed, sleep(gracefulMs, false, { ref: false })])) return;

  void queue.backend.client.then((client) => client.disconnect());
  await Promise.race([closed, sleep(forcedMs, undefined, { ref: false })]);
}

/** All queues of runs; the outbox relay adds jobs to each. */
export class RunQueues {
  readonly runs: RunQueue;
  readonly compactions: RunQueue;

  constructor(options: Omit<RunQueueOptions, 'name'>) {
    this.runs = new RunQueue({ ...options, name: 'runs' });
    this.compactions = new RunQueue({ ...options, name: 'compactions' });
  }

  add(queue: RunQueueName, activation: Activation): Promise<void> {
    return this[queue].add(activation);
  }

  /** Rejects while Redis cannot be reached; for readiness checks. */
  async ping(): Promise<void> {
    await this.runs.ping();
  }

  /** Rejects where Redis is in cluster mode, for the start of a process. */
  async refuseClusterMode(): Promise<void> {
    await this.runs.refuseClusterMode();
  }

  async close(): Promise<void> {
    await Promise.all([this.runs.close(), this.compactions.close()]);
  }
}
