import { once } from 'node:events';

/** Lets a limited number of works run at the same time; the others wait in the order in which they came. */
export class ParserSlots {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly limit: number) {}

  async use<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.running >= this.limit) await this.turn(signal);
    else this.running += 1;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }

  /** Resolves with the slot of a work that has ended. */
  private async turn(signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    let take: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => (take = resolve));
    this.waiting.push(take);
    const aborted = once(signal, 'abort', { signal: done.signal }).catch(() => undefined);
    try {
      await Promise.race([turn, aborted]);
      const place = this.waiting.indexOf(take);
      if (place < 0) return;
      this.waiting.splice(place, 1);
      signal.throwIfAborted();
    } finally {
      done.abort();
    }
  }
}
