import { setTimeout as delay } from 'node:timers/promises';

/** Two at a time: packing and sending share the disk and the network with calls. */
const atOnce = 2;

/** Work on threads that no call waits for, each thread once. A failure is the work's to report. */
export class CopyQueue {
  private readonly waiting = new Set<string>();
  private readonly running = new Map<string, Promise<void>>();

  constructor(private readonly work: (threadId: string) => Promise<void>) {}

  add(threadId: string): void {
    this.waiting.add(threadId);
    this.startNext();
  }

  /** Resolves to the threads that were not done within that time, which are not begun any more. */
  async drain(withinMs: number): Promise<string[]> {
    const ended = new AbortController();
    await Promise.race([
      this.empty(),
      delay(withinMs, undefined, { signal: ended.signal, ref: false }).catch(() => undefined),
    ]);
    ended.abort();
    const left = [...this.running.keys(), ...this.waiting];
    this.waiting.clear();
    return left;
  }

  async empty(): Promise<void> {
    while (this.running.size > 0) await Promise.race(this.running.values());
  }

  private startNext(): void {
    for (const threadId of this.waiting) {
      if (this.running.size >= atOnce) return;
      if (this.running.has(threadId)) continue; // again when it has ended
      this.waiting.delete(threadId);
      const ended = this.work(threadId).finally(() => {
        this.running.delete(threadId);
        this.startNext();
      });
      this.running.set(threadId, ended);
    }
  }
}
