/**
 * Reproducible random numbers. Each part of the world forks a generator of its own by name, so that removing a fault
 * while a schedule is shrunk does not change the numbers of other parts.
 */
export class SeededRandom {
  private state: number;

  constructor(
    private readonly seed: number,
    private readonly name = '',
  ) {
    this.state = hash(seed, name);
  }

  fork(name: string | number): SeededRandom {
    return new SeededRandom(this.seed, `${this.name}/${name}`);
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[Math.floor(this.next() * items.length)] ?? items[0];
  }

  /** Mostly short, sometimes long: the delays of real systems. */
  delay(usualMs: number): number {
    const factor = this.chance(0.05) ? 20 : 1;
    return Math.ceil(this.next() * usualMs * factor);
  }

  /** Mulberry32. */
  private next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}

/** FNV-1a. */
function hash(seed: number, name: string): number {
  let value = 0x811c9dc5 ^ seed;
  for (let at = 0; at < name.length; at++) value = Math.imul(value ^ name.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
