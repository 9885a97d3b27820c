/** One process, from its start to its death. While it is paused, its actions are deferred, not lost. */
export class Life {
  isOver = false;
  private held: (() => void)[] | undefined;

  constructor(readonly name: string) {}

  get isPaused(): boolean {
    return this.held !== undefined;
  }

  get isAwake(): boolean {
    return !this.isOver && !this.isPaused;
  }

  pause(): void {
    this.held ??= [];
  }

  resume(): void {
    const missed = this.held ?? [];
    this.held = undefined;
    missed.forEach((action) => this.live(action));
  }

  /** Runs an action in the process: later if it is paused, never if it is dead. */
  live(action: () => void): void {
    if (this.isOver) return;
    if (this.held) this.held.push(action);
    else action();
  }
}

interface ScheduledStep {
  readonly at: number;
  readonly order: number;
  readonly action: () => void;
}

/**
 * The only clock and scheduler of a simulated world. Runs scheduled steps in the order of their times, and
 * after each step all promises that it settles.
 */
export class Timeline {
  /** Milliseconds since the world began. */
  now = 0;
  stepsTaken = 0;
  private readonly heap: ScheduledStep[] = [];
  private planned = 0;

  /** The virtual time in the log's format. */
  get isoNow(): string {
    return new Date(beginningOfTime + this.now).toISOString();
  }

  after(delayMs: number, action: () => void): void {
    this.insert({ at: this.now + Math.max(0, delayMs), order: this.planned++, action });
  }

  /** The same within a process: the step is skipped if the process has died. */
  within(life: Life, delayMs: number, action: () => void): void {
    this.after(delayMs, () => life.live(action));
  }

  every(life: Life, intervalMs: number, action: () => void): void {
    this.within(life, intervalMs, () => {
      action();
      this.every(life, intervalMs, action);
    });
  }

  /** Never resolves if the process dies first. */
  sleep(life: Life, delayMs: number): Promise<void> {
    return new Promise((resolve) => this.within(life, delayMs, resolve));
  }

  /** Runs steps while `goesOn` returns true. */
  async run(goesOn: () => boolean): Promise<void> {
    for (let next = this.take(); next; next = this.take()) {
      this.now = next.at;
      this.stepsTaken += 1;
      next.action();
      await settlePromises();
      if (!goesOn()) return;
    }
  }

  private insert(step: ScheduledStep): void {
    let at = this.heap.push(step) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.isBefore(at, parent)) return;
      this.swap(at, parent);
      at = parent;
    }
  }

  private take(): ScheduledStep | undefined {
    const first = this.heap[0];
    const last = this.heap.pop();
    if (!first || !last || first === last) return first;
    this.heap[0] = last;
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const least = this.isBefore(right, left) ? right : left;
      if (!this.isBefore(least, at)) return first;
      this.swap(at, least);
      at = least;
    }
  }

  private isBefore(one: number, other: number): boolean {
    const [a, b] = [this.heap[one], this.heap[other]];
    if (!a || !b) return a !== undefined;
    return a.at < b.at || (a.at === b.at && a.order < b.order);
  }

  private swap(one: number, other: number): void {
    const [a, b] = [this.heap[one], this.heap[other]];
    if (!a || !b) return;
    this.heap[one] = b;
    this.heap[other] = a;
  }
}

const beginningOfTime = Date.UTC(2026, 0, 1);

/** Resolves after all promise callbacks that are due. */
const settlePromises = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
