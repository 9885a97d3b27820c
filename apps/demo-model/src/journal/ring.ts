/** Keeps the newest entries, oldest first. */
export class Ring<Entry> {
  private entries: Entry[] = [];
  private count = 0;

  constructor(private readonly capacity: number) {}

  push(entry: Entry): void {
    this.entries.push(entry);
    this.count += 1;
    if (this.entries.length > this.capacity) this.entries.shift();
  }

  newest(limit: number): readonly Entry[] {
    return this.entries.slice(-limit);
  }

  /** How many entries were added since the last clearing, including those that were dropped. */
  get total(): number {
    return this.count;
  }

  clear(): void {
    this.entries = [];
    this.count = 0;
  }
}
