import type { SandboxLog } from '../provider/sandbox-provider';

/** Tasks that are repeated until `stop`, each never twice at the same time. One that fails is tried again the next time. */
export class Upkeep {
  private readonly timers: NodeJS.Timeout[] = [];
  private stopped = false;

  constructor(private readonly log: SandboxLog) {}

  every(intervalMs: number, task: () => Promise<unknown>): void {
    let busy = false;
    const attempt = async () => {
      if (busy || this.stopped) return;
      busy = true;
      await task().catch((error: unknown) => this.log.warn({ err: error }, 'sandbox upkeep failed'));
      busy = false;
    };
    this.timers.push(setInterval(() => void attempt(), intervalMs).unref());
  }

  stop(): void {
    this.stopped = true;
    this.timers.forEach(clearInterval);
  }
}
