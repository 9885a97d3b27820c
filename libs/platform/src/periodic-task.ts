/** Tasks of a multiple of it are due together, so that an idle process wakes once for all of them. */
const gridMs = 500;

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
