/** Room for so many at a time. Whoever finds none waits, in the order of arrival. */
export class Room {
  private readonly waiting = new Set<() => void>();

  constructor(private free: number) {}

  /** Work that is aborted while it waits goes ahead at once, to say so. */
  async for<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const hasPlace = this.enter() || (await this.turn(signal));
    try {
      return await work();
    } finally {
      if (hasPlace) this.leave();
    }
  }

  private enter(): boolean {
    if (this.free === 0) return false;
    this.free -= 1;
    return true;
  }

  private turn(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const goOn = () => {
        signal.removeEventListener('abort', giveUp);
        resolve(true);
      };
      const giveUp = () => {
        this.waiting.delete(goOn);
        resolve(false);
      };
      this.waiting.add(goOn);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** The place goes to whoever waits longest, so that nobody who comes just then is faster. */
  private leave(): void {
    const [next] = this.waiting;
    if (!next) {
      this.free += 1;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
