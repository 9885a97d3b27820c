import type { Writable } from 'node:stream';
import { printable } from './printable';

/** A terminal. Its width is 0 or absent where it is not known. */
export type Screen = Writable & { readonly isTTY?: boolean; readonly columns?: number };

const erase = '\r\u001b[K';

/** The last line of a terminal, which is written anew while other output passes above it. */
export class StatusLine {
  private shown = '';

  constructor(private readonly screen: Screen) {}

  /** An empty text removes it. */
  show(text: string): void {
    if (text === '' && this.shown === '') return;
    const width = (this.screen.columns || 80) - 1; // a line that is full would begin another
    this.shown = printable(text).slice(0, width);
    this.screen.write(erase + this.shown);
  }

  /** Runs what writes whole lines to the same terminal. */
  above(write: () => void): void {
    if (this.shown !== '') this.screen.write(erase);
    write();
    if (this.shown !== '') this.screen.write(this.shown);
  }
}
