const frameIntervalMs = 25;
const frameCharacters = 4_096;
/** Who watches a command live needs no more than this; the result has its end. */
const streamedCharacters = 256 * 1024;
const lastWord = '\n[… no more live output; the result shows the end …]\n';

/**
 * Turns the pieces in which a command prints into few frames for its watchers: the first at once, then one per interval
 * or as soon as enough has gathered, up to a total per call.
 */
export class OutputFrames {
  private gathered = '';
  private sentCharacters = 0;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(private readonly send: (text: string) => void) {}

  push(text: string): void {
    if (this.closed || text === '') return;
    this.gathered += text;
    if (this.timer === undefined || this.gathered.length >= frameCharacters) this.flush();
  }

  /** Sends what is left. */
  close(): void {
    this.flush();
    clearTimeout(this.timer);
    this.closed = true;
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.closed || this.gathered === '') return;

    const room = streamedCharacters - this.sentCharacters;
    const frame = this.gathered.length > room ? this.gathered.slice(0, room) + lastWord : this.gathered;
    this.closed = this.gathered.length > room;
    this.sentCharacters += this.gathered.length;
    this.gathered = '';
    this.send(frame);
    this.timer = setTimeout(() => this.flush(), frameIntervalMs);
  }
}
