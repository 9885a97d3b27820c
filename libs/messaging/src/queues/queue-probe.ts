import type { Worker } from 'bullmq';

/**
 * Whether Redis still answers over the connection by which a worker takes its jobs. A half-open connection raises no
 * error: the worker would be silent for ever, and look healthy (R11). BullMQ itself watches only the connection on which
 * it waits for the next job.
 */
export class QueueProbe {
  private asked: Promise<boolean> | undefined;

  /** A function, because Nest makes the worker late. */
  constructor(
    private readonly worker: () => Worker,
    private readonly patienceMs = 1_500,
  ) {}

  /** One question at a time: while one has no answer, no other is sent after it. */
  async answers(): Promise<boolean> {
    this.asked ??= this.ask().finally(() => (this.asked = undefined));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => (timer = setTimeout(resolve, this.patienceMs, false)));
    return Promise.race([this.asked, late]).finally(() => clearTimeout(timer));
  }

  /** Any answer will do, so it asks for a key that is not there. */
  private async ask(): Promise<boolean> {
    try {
      const worker = this.worker();
      await (await worker.backend.client).get(worker.toKey('canary'));
      return true;
    } catch {
      return false; // refused, or closed
    }
  }
}
