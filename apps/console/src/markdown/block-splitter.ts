/** A text longer than this without a blank line is cut, so that the work for each addition stays bounded. */
const longestBlock = 6_000;
const compared = 64;

/**
 * Splits Markdown that grows into blocks that no longer change, and a rest. Each character is looked at once, however many
 * pieces the text arrives in, so a stream costs time linear in its length.
 */
export class BlockSplitter {
  readonly blocks: string[] = [];
  private text = '';
  private begin = 0;
  private lineStart = 0;
  private fence: string | undefined;
  private blankBefore = false;

  /** The same text with more at its end; anything else begins anew. */
  update(text: string): void {
    if (!this.isContinuedBy(text)) this.restart();
    this.text = text;
    this.readLines();
  }

  /** What is still being written. */
  get rest(): string {
    return this.text.slice(this.begin);
  }

  /** The rest is code whose end has not arrived. */
  get isInFence(): boolean {
    return this.fence !== undefined;
  }

  /** Compares a few characters only: comparing all of them at each addition would cost the square of the length. */
  private isContinuedBy(text: string): boolean {
    const edge = Math.max(0, this.begin - compared);
    const isSame = (from: number, to: number) => text.slice(from, to) === this.text.slice(from, to);
    return text.length >= this.text.length && isSame(0, Math.min(compared, this.begin)) && isSame(edge, this.begin);
  }

  private restart(): void {
    this.blocks.length = 0;
    [this.begin, this.lineStart, this.fence, this.blankBefore] = [0, 0, undefined, false];
  }

  private readLines(): void {
    for (;;) {
      const end = this.text.indexOf('\n', this.lineStart);
      if (end < 0) break;
      this.readLine(this.text.slice(this.lineStart, end));
      this.lineStart = end + 1;
      if (this.fence === undefined && this.lineStart - this.begin > longestBlock) this.settle(this.lineStart);
    }
    if (this.fence === undefined && this.text.length - this.begin > 2 * longestBlock) this.settle(this.text.length);
  }

  private readLine(line: string): void {
    const isBlank = line.trim() === '';
    if (this.fence === undefined && this.blankBefore && !isBlank && !/^(?: {2}|\t)/.test(line))
      this.settle(this.lineStart);
    this.blankBefore = isBlank;
    const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
    const [, fence, info] = mark ?? [];
    if (fence === undefined) return;
    if (this.fence === undefined) {
      if (this.lineStart > this.begin) this.settle(this.lineStart);
      this.fence = fence;
    } else if (fence.startsWith(this.fence) && info?.trim() === '') this.fence = undefined;
  }

  private settle(end: number): void {
    this.blocks.push(this.text.slice(this.begin, end));
    this.begin = end;
    this.lineStart = Math.max(this.lineStart, end);
  }
}
