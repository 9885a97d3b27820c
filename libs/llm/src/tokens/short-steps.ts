/** How long the event loop waits at most before it may do something else, but for the last step begun. */
const turnMs = 5;

interface Job {
  advance(): boolean;
}

/** Does long work in short steps between everything else, and fairly: a small job does not wait for a large one's end. */
export class ShortSteps {
  private readonly jobs: Job[] = [];

  do<Result>(steps: Iterator<unknown, Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const advance = () => {
        try {
          const step = steps.next();
          if (step.done) resolve(step.value);
          return !step.done;
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
          return false;
        }
      };
      if (this.jobs.push({ advance }) === 1) setImmediate(() => this.takeTurn());
    });
  }

  private takeTurn(): void {
    const end = performance.now() + turnMs;
    do {
      const job = this.jobs.shift();
      if (job?.advance()) this.jobs.push(job);
    } while (this.jobs.length > 0 && performance.now() < end);
    if (this.jobs.length > 0) setImmediate(() => this.takeTurn());
  }
}
