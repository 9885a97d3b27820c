import { type RunId, TransientError } from '@rondo/domain';
import { type ConnectionOptions, Queue } from 'bullmq';
import type { Log } from '../log';
import { queueOptions, queues } from './queues';

export interface RunQueueOptions {
  /** See `producerConnection`. */
  readonly connection: ConnectionOptions;
  readonly log: Log;
  /** Goes before every key in Redis; BullMQ's own unless given. */
  readonly prefix?: string;
}

/** A run, and which of its activations this is. */
export interface Activation {
  readonly runId: RunId;
  readonly activation: number;
}

/**
 * Tells the workers that a run is due. Adding an activation twice is adding it once while the first one waits or runs.
 * Every method rejects within seconds while Redis is away.
 */
export class RunQueue {
  readonly queue: Queue;

  constructor({ connection, log, prefix }: RunQueueOptions) {
    this.queue = new Queue(queues.runs.name, { ...queueOptions, connection, ...(prefix !== undefined && { prefix }) });
    this.queue.on('error', (error) => log.warn({ queue: queues.runs.name, error }, 'redis connection failed'));
  }

  async add(activation: Activation): Promise<void> {
    await this.addAll([activation]);
  }

  async addAll(activations: readonly Activation[]): Promise<void> {
    await this.connected();
    await this.queue.addBulk(activations.map(asJob));
  }

  /** How many runs wait for a worker. */
  async waiting(): Promise<number> {
    await this.connected();
    return this.queue.getWaitingCount();
  }

  /** Rejects while Redis cannot be reached; for readiness checks. */
  async ping(): Promise<void> {
    await this.waiting();
  }

  async close(): Promise<void> {
    await this.queue.close();
  }

  /** BullMQ waits for the first connection as long as it takes; those who add jobs must not (R11). */
  private async connected(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new TransientError('Redis is away')), firstConnectionMs);
    });
    try {
      await Promise.race([this.queue.waitUntilReady(), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

const firstConnectionMs = 5_000;

const asJob = ({ runId, activation }: Activation) => ({
  name: 'activate',
  data: { run_id: runId },
  opts: { jobId: `${runId}-${activation}` },
});
