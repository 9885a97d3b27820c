import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'bullmq';

const reportMs = 500;
/** A server that refuses, as one that is full, does so for a while. */
const refusedMs = 1_000;

/**
 * Closes within a second, whatever state Redis is in. BullMQ's graceful close waits without limit for its blocking
 * connection to end, which never happens while that connection waits to reconnect. This one gives jobs that are being
 * processed half a second to be reported, and cuts the connections. What Redis was not told is in Postgres.
 *
 * A pause takes effect at once. BullMQ's own lets the worker go on waiting for a job, and take one more: that could be the
 * job of a run that this process has just handed over. Redis may still wake a paused worker, whose end of the connection it
 * has not seen; it takes nothing then.
 */
export class BoundedCloseWorker extends Worker {
  private readonly processing = new Set<Promise<unknown>>();

  override async processJob(...given: Parameters<Worker['processJob']>): ReturnType<Worker['processJob']> {
    const processed = super.processJob(...given);
    const ended = processed.catch(() => undefined).finally(() => this.processing.delete(ended));
    this.processing.add(ended);
    return processed;
  }

  protected override async moveToActive(
    ...given: Parameters<Worker['moveToActive']>
  ): ReturnType<Worker['moveToActive']> {
    if (this.isPaused()) return this.nextJobFromJobData();
    try {
      return await super.moveToActive(...given);
    } catch (error) {
      await sleep(refusedMs, undefined, { ref: false }); // BullMQ asks again at once
      throw error;
    }
  }

  override async pause(doNotWaitActive?: boolean): Promise<void> {
    await super.pause(doNotWaitActive);
    await this.backend.disconnectBlocking(false);
  }

  /** Always by force, after that half second. */
  override async close(): Promise<void> {
    const isReported = Promise.all(this.processing);
    if (this.processing.size > 0) await Promise.race([isReported, sleep(reportMs, undefined, { ref: false })]);
    await super.close(true);
  }
}
