/** Runs work with the same key one after the other, in the order of the calls. Different keys do not affect each other. */
export class KeyedMutex {
  private readonly tails = new Map<string, Promise<void>>();

  /** When the signal is aborted before the work's turn, the work is skipped and the call rejects with the signal's reason. */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const previous = this.tails.get(key) ?? Promise.resolve();
    let release = (): void => undefined;
    const done = new Promise<void>((resolve) => (release = resolve));
    const tail = previous.then(() => done);
    this.tails.set(key, tail);
    try {
      await (signal ? unlessAborted(previous, signal) : previous);
      return await work();
    } finally {
      release();
      void tail.then(() => this.tails.get(key) === tail && this.tails.delete(key));
    }
  }
}

async function unlessAborted(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let abort = (): void => undefined;
  const aborted = new Promise<void>((resolve) => (abort = resolve));
  signal.addEventListener('abort', abort);
  await Promise.race([turn, aborted]);
  signal.removeEventListener('abort', abort);
  signal.throwIfAborted();
}
