/** Work in the same lane happens one after the other, in the order it came; different lanes do not know of each other. */
export class KeyedMutex {
  private readonly ends = new Map<string, Promise<void>>();

  /** Rejects with the signal's reason, and without having begun, when it is aborted before the turn comes. */
  async inTurn<T>(lane: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.ends.get(lane) ?? Promise.resolve();
    let leave = (): void => undefined;
    const done = new Promise<void>((resolve) => (leave = resolve));
    const end = before.then(() => done);
    this.ends.set(lane, end);
    try {
      await unlessAborted(before, signal);
      return await work();
    } finally {
      leave();
      void end.then(() => this.ends.get(lane) === end && this.ends.delete(lane));
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
