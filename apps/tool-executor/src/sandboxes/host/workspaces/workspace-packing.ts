/** A file with large holes is read back as a whole, and commands can make many. */
const packWithinMs = 15 * 60_000;
const interrupted = new Error('The workspace was opened meanwhile.');

interface Packing {
  readonly interruption: AbortController;
  /** Resolves also where it failed. */
  readonly ended: Promise<unknown>;
}

/** Which workspaces are being packed: each by one at a time, and given up at once where its files are needed. */
export class WorkspacePacking {
  private readonly packing = new Map<string, Packing>();

  has(threadId: string): boolean {
    return this.packing.has(threadId);
  }

  /** Undefined where it was interrupted. */
  async run<T>(threadId: string, pack: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const interruption = new AbortController();
    const timeout = setTimeout(() => interruption.abort(new Error('It took too long.')), packWithinMs).unref();
    const ended = pack(interruption.signal).finally(() => {
      clearTimeout(timeout);
      this.packing.delete(threadId);
    });
    this.packing.set(threadId, { interruption, ended: ended.catch(() => undefined) });
    return ended.catch((error: unknown) => {
      if (interruption.signal.reason === interrupted) return undefined;
      throw error;
    });
  }

  async interrupt(threadId: string): Promise<void> {
    const packing = this.packing.get(threadId);
    packing?.interruption.abort(interrupted);
    await packing?.ended;
  }

  async interruptAll(): Promise<void> {
    await Promise.all([...this.packing.keys()].map((threadId) => this.interrupt(threadId)));
  }
}
