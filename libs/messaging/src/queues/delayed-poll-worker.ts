import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, Worker } from 'bullmq';

/** Of what a job leads to at once, the claim of a run and the first question to its model. */
const beginningMs = 3;

/**
 * Leaves a job that came alone time to begin before it asks for another one. BullMQ asks at once, and once more because of
 * the marker that every job leaves behind: where jobs come one by one, both questions find nothing, and stand in the way of
 * the one that came. Nothing is missed, for the marker stays until it was looked at. Where jobs come in numbers, all but the
 * first are asked for as ever, a few milliseconds later.
 */
export class DelayedPollWorker extends Worker {
  private foundNothing = true;
  private isBeginning = false;

  protected override async moveToActive(token: string, name?: string) {
    if (this.isBeginning) {
      this.isBeginning = false;
      await sleep(beginningMs);
      return this.nextJobFromJobData(); // none: it waits for the marker now, and finds it
    }
    const job = await super.moveToActive(token, name);
    const found = job as Job | undefined; // nothing may wait, which its type does not say
    this.isBeginning = found !== undefined && this.foundNothing;
    this.foundNothing = found === undefined;
    return job;
  }
}
