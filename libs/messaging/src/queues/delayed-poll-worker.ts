import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { BoundedCloseWorker } from './bounded-close-worker';

/** How long a job takes to claim its run and send the first model request. */
const startMs = 3;

/**
 * Whether no job waits. Then it also takes the marker away that BullMQ leaves with each job which it hands out: the marker would
 * have every idle worker poll once more, and find nothing. Who adds a job sets it again.
 */
const rests = {
  name: 'restsWithoutJob',
  lua: `
if redis.call('LLEN', KEYS[1]) + redis.call('ZCARD', KEYS[2]) > 0 then return 0 end
redis.call('ZREM', KEYS[3], '0')
return 1`,
};

/**
 * Lets a job that came alone start before it looks for the next. BullMQ polls at once, and again because of the marker that
 * each job leaves: where jobs come one by one, both polls find nothing and delay the job that came. Where several jobs come
 * together, all but the first are polled for a few milliseconds later. Whether others wait is asked together with the job.
 */
export class DelayedPollWorker extends BoundedCloseWorker {
  private wasIdle = true;
  private isStarting = false;
  private isAlone: Promise<boolean> = Promise.resolve(true);
  private hasScript = false;

  protected override async moveToActive(token: string, name?: string) {
    if (this.isStarting) {
      this.isStarting = false;
      this.wasIdle = await this.isAlone;
      if (this.wasIdle) {
        await nextTurn(); // the job that came is claimed first
        return this.nextJobFromJobData(); // undefined: the worker now waits for the marker of the next job
      }
      await sleep(startMs);
    }
    const moved = super.moveToActive(token, name);
    if (this.wasIdle) this.isAlone = this.askWhetherAlone();
    const found = (await moved) as Job | undefined; // undefined when no job waits, which the declared type omits
    this.isStarting = found !== undefined && this.wasIdle;
    this.wasIdle = found === undefined;
    return moved;
  }

  /**
   * Right behind the request for the job, so that both are one message to Redis. True also while that does not answer: BullMQ, which
   * then waits for a marker, connects again.
   */
  private async askWhetherAlone(): Promise<boolean> {
    try {
      const client = await this.backend.client;
      if (!this.hasScript) client.defineCommand(rests.name, { numberOfKeys: 3, lua: rests.lua });
      this.hasScript = true;
      const { wait, prioritized, marker } = this.keys;
      await new Promise<void>((resolve) => process.nextTick(resolve)); // until the request was written
      return (await client.runCommand(rests.name, [wait, prioritized, marker])) === 1;
    } catch {
      return true;
    }
  }
}
