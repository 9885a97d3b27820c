const escapes = new RegExp(
  // Colours and movements; titles and links; short ones.
  ['\\u001b\\[[0-?]*[ -/]*[@-~]', '\\u001b\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)', '\\u001b[ -/]*[0-Z^-~]'].join(
    '|',
  ),
  'g',
);

/** A line as a terminal shows it at its end: the last of its frames, which begin at its start anew, without escapes. */
function lastFrame(line: string): string {
  const frames = line.replace(escapes, '').split('\r');
  return frames.findLast((frame) => frame !== '') ?? '';
}

export interface ShownText {
  readonly output: string;
  readonly truncated: boolean;
}

/** The same of output that is there as a whole, or whose middle is missing already. */
export function terminalText({ output, truncated }: ShownText): ShownText {
  const text = new TerminalText(2 * output.length);
  text.push(output);
  return { output: text.result.output, truncated };
}

/**
 * What a command has printed as a terminal shows it at the end, made of its output as it comes. Of what is longer than `kept`, half is
 * kept from the start and half from the end.
 */
export class TerminalText {
  private head = '';
  private tail = '';
  private omitted = 0;
  private line = '';
  private readonly half: number;

  constructor(kept: number) {
    this.half = Math.ceil(kept / 2);
  }

  push(text: string): void {
    const [first = '', ...others] = text.split('\n');
    this.continueLine(first);
    for (const other of others) {
      this.keep(`${lastFrame(this.line)}\n`);
      this.line = '';
      this.continueLine(other);
    }
  }

  get result(): ShownText {
    const tail = this.tail + lastFrame(this.line);
    if (this.omitted === 0) return { output: this.head + tail, truncated: false };
    return { output: `${this.head}\n[… ${this.omitted} characters left out …]\n${tail}`, truncated: true };
  }

  /** Reads no more than what is new, unless that begins a frame: a line may be as long as all that a command prints. */
  private continueLine(text: string): void {
    this.line += text;
    if (this.line.length <= this.half || !text.includes('\r')) return;
    const frame = this.line.lastIndexOf('\r', this.line.length - 2);
    if (frame > 0) this.line = this.line.slice(frame); // a bar may draw itself for hours
  }

  private keep(line: string): void {
    const left = this.tail === '' ? this.half - this.head.length : 0;
    this.head += line.slice(0, left);
    this.tail += line.slice(left);
    if (this.tail.length <= 2 * this.half) return;
    this.omitted += this.tail.length - this.half;
    this.tail = this.tail.slice(-this.half);
  }
}
