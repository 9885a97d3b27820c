/**
 * Does something again and again, one at a time, `everyMs` after the last time ended. A failure is reported and the
 * next beat comes as usual.
 */
export class PeriodicTask {
  private timer: NodeJS.Timeout | undefined;
  private beat: Promise<void> = Promise.resolve();
  private stopped = false;
  private endedAt = performance.now();

  constructor(
    private readonly parts: { everyMs: number; work: () => Promise<unknown>; failed: (error: unknown) => void },
  ) {}

  /** How late the present beat is in ending. One that never ends gets ever later, and nobody would hear of it. */
  get lateMs(): number {
    return performance.now() - this.endedAt - this.parts.everyMs;
  }

  start(): void {
    this.endedAt = performance.now();
    this.timer = setTimeout(() => {
      this.beat = this.once().finally(() => {
        if (!this.stopped) this.start();
      });
    }, this.parts.everyMs);
  }

  /** Resolves when the beat under way has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.beat;
  }

  private async once(): Promise<void> {
    try {
      await this.parts.work();
    } catch (error) {
      this.parts.failed(error);
    }
  }
}
