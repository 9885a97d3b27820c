/** So many at once: of the four threads of the pool, one is left to other work. */
const mostAtOnce = 3;

/** Work on long files, a few of which are in progress together. */
export class Several {
  private readonly running = new Set<Promise<void>>();
  private failure: { readonly error: unknown } | undefined;

  /** Resolves when more may be begun. Rejects with the first failure of what was added. */
  async add(work: Promise<unknown>): Promise<void> {
    const end = work.then(
      () => undefined,
      (error: unknown) => void (this.failure ??= { error }),
    );
    const running = end.finally(() => this.running.delete(running));
    this.running.add(running);
    while (this.running.size >= mostAtOnce && !this.failure) await Promise.race(this.running);
    if (this.failure) throw this.failure.error;
  }

  /** Resolves when all has ended. Rejects as `add` does. */
  async finish(): Promise<void> {
    await Promise.all(this.running);
    if (this.failure) throw this.failure.error;
  }
}
