import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { BoundedCloseWorker } from './bounded-close-worker';

/** How long a job takes to claim its run and send the first model request. */
const startMs = 3;

/**
 * Lets a job that came alone start before it polls for the next. BullMQ polls at once, and again because of the marker that
 * each job leaves: where jobs come one by one, both polls find nothing and delay the job that came. No job is missed, since
 * the marker stays until a poll. Where several jobs come together, all but the first are polled for a few milliseconds
 * later.
 */
export class DelayedPollWorker extends BoundedCloseWorker {
  private wasIdle = true;
  private isStarting = false;

  protected override async moveToActive(token: string, name?: string) {
    if (this.isStarting) {
      this.isStarting = false;
      await sleep(startMs);
      return this.nextJobFromJobData(); // undefined: the worker now waits for the marker, which is there
    }
    const job = await super.moveToActive(token, name);
    const found = job as Job | undefined; // undefined when no job waits, which the declared type omits
    this.isStarting = found !== undefined && this.wasIdle;
    this.wasIdle = found === undefined;
    return job;
  }
}
