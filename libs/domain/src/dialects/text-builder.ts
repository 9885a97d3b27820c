const piecesPerJoin = 512;

/** Builds a long text from many small pieces, and joins them in between so that they can be garbage collected. */
export class TextBuilder {
  private whole = '';
  private pieces: string[] = [];

  /** An arrow function, so that it can be passed as a callback. */
  readonly add = (text: string): void => {
    if (this.pieces.push(text) >= piecesPerJoin) this.join();
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
