import type { Worker } from 'bullmq';

const defaultTimeoutMs = 1_500;

/**
 * Checks that Redis answers on the connection over which a worker fetches jobs. A half-open connection raises no error:
 * the worker would get no jobs and still look healthy. BullMQ itself checks only its blocking connection.
 */
export class QueueProbe {
  private pending: Promise<boolean> | undefined;

  /** A function, because Nest creates the worker after its providers. */
  constructor(
    private readonly worker: () => Worker,
    private readonly timeoutMs = defaultTimeoutMs,
  ) {}

  /** Calls share one request until it is answered. */
  async answers(): Promise<boolean> {
    this.pending ??= this.ask().finally(() => (this.pending = undefined));
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<false>((resolve) => (timer = setTimeout(resolve, this.timeoutMs, false)));
    return Promise.race([this.pending, timeout]).finally(() => clearTimeout(timer));
  }

  /** Rejects while Redis does not answer; for readiness. */
  async check(): Promise<void> {
    if (!(await this.answers())) throw new Error('the queue does not answer');
  }

  /** Reads a key that does not exist, since any answer suffices. */
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
