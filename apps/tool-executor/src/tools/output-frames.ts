const frameIntervalMs = 25;
const frameCharacters = 4_096;
/** Live output stops after this many characters; the result has the end. */
export const streamedCharacters = 256 * 1024;
const cutOffNote = '\n[… no more live output; the result shows the end …]\n';

/**
 * Combines the chunks that a command prints into few frames of live output: the first is sent at once, the others once per
 * interval or as soon as a frame is full, up to a total per call.
 */
export class OutputFrames {
  private buffered = '';
  private sentCharacters = 0;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(private readonly send: (text: string) => void) {}

  push(text: string): void {
    if (this.closed || text === '') return;
    this.buffered += text;
    if (this.timer === undefined || this.buffered.length >= frameCharacters) this.flush();
  }

  /** Sends what is still buffered. */
  close(): void {
    this.flush();
    clearTimeout(this.timer);
    this.closed = true;
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.closed || this.buffered === '') return;

    const remaining = streamedCharacters - this.sentCharacters;
    const frame = this.buffered.length > remaining ? this.buffered.slice(0, remaining) + cutOffNote : this.buffered;
    this.closed = this.buffered.length > remaining;
    this.sentCharacters += this.buffered.length;
    this.buffered = '';
    this.send(frame);
    this.timer = setTimeout(() => this.flush(), frameIntervalMs);
  }
}
