/** How many pieces are joined at a time. */
const fold = 512;

/** Grows a long text from many small pieces, without keeping each of them alive. */
export class TextBuilder {
  private whole = '';
  private pieces: string[] = [];

  /** An arrow, so that it can be handed on as it is. */
  readonly add = (text: string): void => {
    if (this.pieces.push(text) >= fold) this.join();
  };

  toString(): string {
    this.join();
    return this.whole;
  }

  private join(): void {
    this.whole += this.pieces.join('');
    this.pieces = [];
  }
}
