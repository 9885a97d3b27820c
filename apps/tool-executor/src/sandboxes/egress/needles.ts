/** What is at a place of a text. */
interface Found {
  /** Of the longest needle that stands there, in bytes. 0: none does. */
  readonly length: number;
  /** Whether the text ends with the beginning of a longer one. */
  readonly isBegun: boolean;
}

/**
 * Many texts that are looked for at once, in a time that hardly depends on how many they are: almost every place of a text is
 * decided by its first two bytes, and the others by a binary search.
 */
export class Needles {
  private readonly sorted: readonly Buffer[];
  /** For each of them, which is the longest other one that it begins with. -1: none. */
  private readonly shorter: number[] = [];
  private readonly longest: number;
  /** 1 for each first byte, and for each first two bytes. */
  private readonly firsts = new Uint8Array(256);
  private readonly pairs = new Uint8Array(65_536);

  /** Each has two bytes at least. */
  constructor(texts: readonly string[]) {
    this.sorted = [...new Set(texts)].map((text) => Buffer.from(text)).sort((one, other) => one.compare(other));
    this.longest = Math.max(0, ...this.sorted.map(({ length }) => length));
    for (const [index, needle] of this.sorted.entries()) {
      this.firsts[needle.readUInt8(0)] = 1;
      this.pairs[needle.readUInt16BE(0)] = 1;
      let begin = index - 1;
      while (begin >= 0 && !this.standsAt(begin, needle, 0)) begin = this.shorter[begin] ?? -1;
      this.shorter.push(begin);
    }
  }

  /** The next place, from this one on, where a needle may stand or begin; or the end. */
  findPlace(bytes: Buffer, from: number): number {
    const last = bytes.length - 1;
    for (let at = from; at < last; at += 1) if (this.pairs[((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)]) return at;
    return from <= last && this.firsts[bytes[last] ?? 0] ? last : bytes.length;
  }

  findAt(bytes: Buffer, at: number): Found {
    const left = bytes.length - at;
    const end = Math.min(bytes.length, at + this.longest);
    const next = this.countUpTo(bytes, at, end);
    const isBegun = left < this.longest && this.beginsWith(next, bytes, at);
    let index = next - 1;
    while (index >= 0 && !this.standsAt(index, bytes, at)) index = this.shorter[index] ?? -1;
    return { length: this.sorted[index]?.length ?? 0, isBegun };
  }

  /** How many needles are these bytes, or come before them. What begins with the bytes comes next, and what they begin with before. */
  private countUpTo(bytes: Buffer, at: number, end: number): number {
    let [low, high] = [0, this.sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.sorted[middle]?.compare(bytes, at, end) ?? 1) > 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  private standsAt(index: number, bytes: Buffer, at: number): boolean {
    const needle = this.sorted[index];
    return needle !== undefined && needle.compare(bytes, at, Math.min(bytes.length, at + needle.length)) === 0;
  }

  private beginsWith(index: number, bytes: Buffer, at: number): boolean {
    const needle = this.sorted[index];
    const length = bytes.length - at;
    return needle !== undefined && needle.length > length && needle.compare(bytes, at, bytes.length, 0, length) === 0;
  }
}
