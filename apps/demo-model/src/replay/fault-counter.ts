import type { Fault } from '../script/turn';

const capacity = 10_000;

/**
 * Counts the failed attempts of each conversation. It is the only state that replies depend on. A successful attempt
 * resets the count, so that the same conversation meets the same faults the next time. Two runs with the same
 * conversation at the same time share a count.
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
