/**
 * Whether a text ends in code, as Markdown writes it: in a fence of three backticks that begins a line, or in a span within a line. The
 * text is looked at once, and only when it is asked for.
 */
export class CodeContext {
  /** The text ends with a line that is blank so far. */
  isBlank = true;
  isInFence = false;
  isInSpan = false;
  /** The last characters of the text. */
  last = '';
  private added = '';

  add(text: string): void {
    this.added += text;
  }

  get isInCode(): boolean {
    this.look();
    return this.isInFence || this.isInSpan;
  }

  /** A text after something that ends every line and span, but no fence. */
  restart(): void {
    this.added = '';
    this.isBlank = true;
    this.isInSpan = false;
    this.last = '';
  }

  /** Reads what was added. */
  look(): void {
    const text = this.added;
    let at = 0;
    for (const { 0: found, index } of text.matchAll(/\n|`+/g)) {
      this.isBlank &&= text.slice(at, index).trim() === '';
      at = index + found.length;
      if (found === '\n') this.isInSpan = false;
      else if (found.length >= 3 && this.isBlank) this.isInFence = !this.isInFence;
      else if (!this.isInFence) this.isInSpan = !this.isInSpan;
      this.isBlank = found === '\n';
    }
    this.isBlank &&= text.slice(at).trim() === '';
    this.last = (this.last + text).slice(-3);
    this.added = '';
  }
}
