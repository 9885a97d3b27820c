import type { RunningProgram } from '../../../../deploy/local/services/supervised-process.mjs';

/** Workers of which any number runs. The first ones run, the others are stopped. */
export class Fleet {
  private wanted: number;
  private readonly changes: Promise<void>[];
  private readonly aliveSinceMs: (number | undefined)[];
  private aliveMs = 0;

  /** All of them run. */
  constructor(private readonly workers: readonly RunningProgram[]) {
    this.wanted = workers.length;
    this.changes = workers.map(() => Promise.resolve());
    this.aliveSinceMs = workers.map(() => performance.now());
  }

  get size(): number {
    return this.wanted;
  }

  /** Starts or stops what is missing or too many, without waiting: a worker that stops gives its runs to others. */
  resize(size: number): void {
    for (let index = this.wanted; index < size; index++) this.change(index, true);
    for (let index = size; index < this.wanted; index++) this.change(index, false);
    this.wanted = size;
  }

  /** Resolves when every worker has started or stopped. */
  async settled(): Promise<void> {
    await Promise.all(this.changes);
  }

  /** The sum of the times that workers have lived since the last call, in ms. */
  takeAliveMs(): number {
    const now = performance.now();
    const running = this.aliveSinceMs.map((since) => (since === undefined ? 0 : now - since));
    const taken = this.aliveMs + running.reduce((sum, ms) => sum + ms, 0);
    this.aliveMs = 0;
    this.aliveSinceMs.forEach((since, index) => (this.aliveSinceMs[index] = since === undefined ? undefined : now));
    return taken;
  }

  private change(index: number, runs: boolean): void {
    const worker = this.workers[index];
    if (!worker) throw new Error(`there is no worker ${index}`);
    const before = this.changes[index] ?? Promise.resolve();
    this.changes[index] = before.then(async () => {
      if (runs) this.aliveSinceMs[index] = performance.now();
      await (runs ? worker.start() : worker.stop());
      if (runs) return;
      this.aliveMs += performance.now() - (this.aliveSinceMs[index] ?? performance.now());
      this.aliveSinceMs[index] = undefined;
    });
  }
}
