import type { RunId, ThreadId } from '@rondo/contract';
import { type RunQueueName, TransientError } from '@rondo/domain';
import { type ConnectionOptions, Queue } from 'bullmq';
import type { Log } from '../log';
import { closeSoon } from './close-soon';
import { queueOptions } from './queues';

export interface RunQueueOptions {
  /** See `producerConnection`. */
  readonly connection: ConnectionOptions;
  readonly log: Log;
  /** The workers' queue unless given. */
  readonly name?: RunQueueName;
  /** Goes before every key in Redis; BullMQ's own unless given. */
  readonly prefix?: string;
}

/** A run, and which of its activations this is. */
export interface Activation {
  readonly runId: RunId;
  readonly threadId: ThreadId;
  readonly activation: number;
}

/**
 * Tells those who serve a queue that a run is due. Adding an activation twice is adding it once while the first one waits or runs.
 * Every method rejects within seconds while Redis is away.
 */
export class RunQueue {
  readonly queue: Queue;
  private hasConnected = false;

  constructor({ connection, log, prefix, name = 'runs' }: RunQueueOptions) {
    this.queue = new Queue(name, { ...queueOptions, connection, ...(prefix !== undefined && { prefix }) });
    this.queue.on('error', (error) => log.warn({ queue: name, error }, 'redis connection failed'));
  }

  /** By itself: what `addAll` needs for many costs more than the job. */
  async add(activation: Activation): Promise<void> {
    await this.connected();
    const { name, data, opts } = asJob(activation);
    await this.queue.add(name, data, opts);
  }

  async addAll(activations: readonly Activation[]): Promise<void> {
    await this.connected();
    await this.queue.addBulk(activations.map(asJob));
  }

  /** How many runs wait to be taken. */
  async waiting(): Promise<number> {
    await this.connected();
    return this.queue.getWaitingCount();
  }

  /** Rejects while Redis cannot be reached; for readiness checks. */
  async ping(): Promise<void> {
    await this.waiting();
  }

  async close(): Promise<void> {
    await closeSoon(this.queue);
  }

  /** BullMQ waits for the first connection as long as it takes; those who add jobs must not (R11). */
  private async connected(): Promise<void> {
    if (this.hasConnected) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new TransientError('Redis is away')), firstConnectionMs);
    });
    try {
      await Promise.race([this.queue.waitUntilReady(), late]);
      this.hasConnected = true;
    } finally {
      clearTimeout(timer);
    }
  }
}

const firstConnectionMs = 5_000;

const asJob = ({ runId, threadId, activation }: Activation) => ({
  name: 'activate',
  data: { run_id: runId, thread_id: threadId },
  opts: { jobId: `${runId}-${activation}` },
});
