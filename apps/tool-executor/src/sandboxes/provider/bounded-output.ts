/** Chunks are merged beyond this number, so that a program that writes single bytes costs no more memory. */
const maximumPieces = 64;

/** Keeps a bounded part of a command's output: its head and its tail, half of `keepBytes` each. */
export class BoundedOutput {
  private readonly head: Buffer[] = [];
  private headBytes = 0;
  private readonly tail: Buffer[] = [];
  private tailBytes = 0;
  totalBytes = 0;
  private readonly half: number;

  constructor(keepBytes: number) {
    this.half = Math.ceil(keepBytes / 2);
  }

  get truncated(): boolean {
    return this.totalBytes > this.headBytes + this.tailBytes;
  }

  push(bytes: Buffer): void {
    this.totalBytes += bytes.length;
    const toHead = bytes.subarray(0, this.half - this.headBytes);
    if (toHead.length > 0) this.head.push(toHead);
    this.headBytes += toHead.length;
    this.pushTail(bytes.subarray(toHead.length));
  }

  /** The text from an offset on, and the offset of the next read: never inside a character. */
  since(offset: number): { text: string; nextOffset: number } {
    const head = Buffer.concat(this.head);
    const tail = Buffer.concat(this.tail);
    const tailStart = this.totalBytes - tail.length;
    if (!this.truncated) {
      const whole = Buffer.concat([head, tail]);
      const end = wholeCharacters(whole);
      return { text: whole.toString('utf8', Math.min(offset, end), end), nextOffset: Math.max(offset, end) };
    }
    const end = wholeCharacters(tail);
    const from = offset > tailStart ? offset - tailStart : characterStart(tail);
    const text = tail.toString('utf8', Math.min(from, end), end);
    const nextOffset = Math.max(offset, tailStart + end);
    if (offset >= tailStart) return { text, nextOffset };

    const kept = head.toString('utf8', Math.min(offset, head.length), wholeCharacters(head));
    const missing = tailStart + from - Math.max(offset, head.length);
    return { text: `${kept}\n[… ${missing} bytes left out …]\n${text}`, nextOffset };
  }

  /** The kept output. An incomplete last character becomes U+FFFD. */
  final(): string {
    const { text, nextOffset } = this.since(0);
    return nextOffset < this.totalBytes ? `${text}\uFFFD` : text;
  }

  private pushTail(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.tail.push(bytes);
    this.tailBytes += bytes.length;
    if (this.tail.length > maximumPieces)
      this.tail.splice(0, maximumPieces, Buffer.concat(this.tail.slice(0, maximumPieces)));
    for (let first = this.tail[0]; first && this.tailBytes > this.half; first = this.tail[0]) {
      const excess = this.tailBytes - this.half;
      if (first.length <= excess) this.tail.shift();
      else this.tail[0] = Buffer.from(first.subarray(excess));
      this.tailBytes -= Math.min(first.length, excess);
    }
  }
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** How many bytes can be decoded without cutting the last character in two. */
function wholeCharacters(bytes: Buffer): number {
  let lead = bytes.length - 1;
  while (lead >= 0 && lead > bytes.length - 4 && isContinuation(bytes[lead])) lead -= 1;
  const first = bytes[lead];
  if (first === undefined) return bytes.length;
  const needed = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return lead + needed > bytes.length ? lead : bytes.length;
}

/** Where the first whole character starts in bytes that were cut off at the front. */
function characterStart(bytes: Buffer): number {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return start;
}
