/** Tasks of a multiple of it are due together, so that an idle process wakes once for all of them. */
const gridMs = 500;

/** Repeats `work`, which must not throw, on the grid. Returns a function that ends it. */
export function repeatOnGrid(work: () => void, everyMs: number): () => void {
  const task = new PeriodicTask({ everyMs, work: () => Promise.resolve().then(work), failed: () => undefined });
  task.start();
  return () => void task.stop();
}

/**
 * Repeats `work`, never overlapping: each execution starts about `everyMs` after the last one ended. A failure is reported and
 * does not stop the repetition.
 */
export class PeriodicTask {
  private timer: NodeJS.Timeout | undefined;
  private current: Promise<void> = Promise.resolve();
  private stopped = false;
  private endedAt = performance.now();

  constructor(
    private readonly parts: { everyMs: number; work: () => Promise<unknown>; failed: (error: unknown) => void },
  ) {}

  /** How overdue the end of the current execution is. It grows while an execution hangs, for a liveness check to see. */
  get lateMs(): number {
    return performance.now() - this.endedAt - this.parts.everyMs;
  }

  start(): void {
    const { everyMs } = this.parts;
    this.endedAt = performance.now();
    const dueAt = this.endedAt + everyMs;
    const startAt = everyMs % gridMs === 0 ? Math.round(dueAt / gridMs) * gridMs : dueAt;
    this.timer = setTimeout(() => {
      this.current = this.once().finally(() => {
        if (!this.stopped) this.start();
      });
    }, startAt - this.endedAt);
  }

  /** Resolves when the current execution has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.current;
  }

  private async once(): Promise<void> {
    try {
      await this.parts.work();
    } catch (error) {
      this.parts.failed(error);
    }
  }
}

/**
 * Resolves after the promise callbacks and the immediates that are already due, and those that they start. Background
 * work that awaits this first lets the output that a client waits for leave.
 */
export const afterImmediates = (): Promise<void> =>
  new Promise((resolve) => process.nextTick(() => setImmediate(resolve)));
