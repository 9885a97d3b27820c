/**
 * Repeats `work`, never overlapping: each execution starts `everyMs` after the last one ended. A failure is reported and
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
    this.endedAt = performance.now();
    this.timer = setTimeout(() => {
      this.current = this.once().finally(() => {
        if (!this.stopped) this.start();
      });
    }, this.parts.everyMs);
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
