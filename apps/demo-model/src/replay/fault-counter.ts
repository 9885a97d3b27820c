import type { Fault } from '../script/turn';

const capacity = 10_000;

/**
 * Counts the attempts at each conversation that a fault has struck. This is the only memory behind the replies:
 * it lives in this process, and the attempt that is let through ends the count, so that the same conversation
 * held a second time meets the same faults. Two runs that hold the same conversation at once share a count.
 */
export class FaultCounter {
  private readonly struck = new Map<string, number>();

  strikes(key: string, { times = Infinity }: Fault): boolean {
    const before = this.struck.get(key) ?? 0;
    this.struck.delete(key);
    if (before >= times) return false;

    this.struck.set(key, before + 1);
    this.forgetOldest();
    return true;
  }

  private forgetOldest(): void {
    const [oldest] = this.struck.keys();
    if (this.struck.size > capacity && oldest !== undefined) this.struck.delete(oldest);
  }
}
