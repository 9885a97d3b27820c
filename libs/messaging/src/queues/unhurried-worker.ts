import { Worker } from 'bullmq';

/**
 * Begins with the job that it was given before it asks for another one. BullMQ asks at once, twice, and where jobs come
 * one by one that finds nothing but delays the one that came. Nothing is missed: a job that is taken leaves a marker for
 * those behind it, which is what a worker waits for.
 */
export class UnhurriedWorker extends Worker {
  private hasJustTaken = false;

  protected override async moveToActive(token: string, name?: string) {
    const asks = !this.hasJustTaken;
    const job = asks ? await super.moveToActive(token, name) : await this.nextJobFromJobData();
    this.hasJustTaken = job !== undefined;
    return job;
  }
}
