/** At most so many values, of which the one that was not used for longest is dropped first. */
export class LruCache<Key, Value> {
  /** In the order of their last use. */
  private readonly values = new Map<Key, Value>();

  constructor(private readonly maxSize: number) {}

  get(key: Key): Value | undefined {
    const value = this.values.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    this.values.delete(key);
    this.values.set(key, value);
    if (this.values.size <= this.maxSize) return;
    const [oldest] = this.values.keys();
    if (oldest !== undefined) this.values.delete(oldest);
  }

  delete(key: Key): void {
    this.values.delete(key);
  }
}
