import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'bullmq';

const reportMs = 500;

/**
 * Closes within a second, whatever state Redis is in. BullMQ's graceful close waits without limit for its blocking
 * connection to end, which never happens while that connection waits to reconnect. This one gives jobs that are being
 * processed half a second to be reported, and cuts the connections. What Redis was not told is in Postgres.
 */
export class BoundedCloseWorker extends Worker {
  private readonly processing = new Set<Promise<unknown>>();

  override async processJob(...given: Parameters<Worker['processJob']>): ReturnType<Worker['processJob']> {
    const processed = super.processJob(...given);
    const ended = processed.catch(() => undefined).finally(() => this.processing.delete(ended));
    this.processing.add(ended);
    return processed;
  }

  /** Always by force, after that half second. */
  override async close(): Promise<void> {
    const isReported = Promise.all(this.processing);
    if (this.processing.size > 0) await Promise.race([isReported, sleep(reportMs, undefined, { ref: false })]);
    await super.close(true);
  }
}
