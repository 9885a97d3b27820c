/** How long steps block the event loop at a time, apart from the last step's excess. */
const turnMs = 5;

interface Job {
  advance(): boolean;
}

/** Runs long computations in short steps, alternating between jobs, so that a small one does not wait for a large one. */
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
