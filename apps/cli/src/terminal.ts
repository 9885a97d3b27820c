import { createInterface } from 'node:readline/promises';
import { type Readable, Writable } from 'node:stream';

/**
 * Control characters that could move the cursor, change a terminal's title or hide text: all but tab and line feed, and the
 * marks that change the direction of text.
 */
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g; // eslint-disable-line no-control-regex -- these are what it removes

/** Text that a terminal shows as it is. A carriage return becomes a line feed. */
export const printable = (text: string): string => text.replaceAll(/\r\n?/g, '\n').replaceAll(control, '');

export interface Streams {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Screen;
  readonly errors: Screen;
}

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
const styles: Record<Style, number> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };

/**
 * Results go to standard output, everything else to standard error. What comes from a model or a tool may contain control
 * sequences; on a terminal they are removed.
 */
export class Terminal {
  private readonly statusLine: StatusLine;

  constructor(
    private readonly streams: Streams,
    readonly options: { readonly json: boolean; readonly colour: boolean; readonly dumb?: boolean },
  ) {
    this.statusLine = new StatusLine(streams.errors);
  }

  /** Whether a person can be asked. */
  get canAsk(): boolean {
    return this.streams.input.isTTY === true && this.streams.errors.isTTY === true && !this.options.json;
  }

  /** Whether a person reads the results. */
  get isShown(): boolean {
    return this.streams.output.isTTY === true;
  }

  get isJson(): boolean {
    return this.options.json;
  }

  /** Whether there is a last line that can be written anew. */
  get hasStatus(): boolean {
    return this.streams.errors.isTTY === true && !this.options.json && this.options.dumb !== true;
  }

  /** The last line until the next one; an empty text removes it. Only whole lines may be written meanwhile. */
  status(text: string): void {
    if (this.hasStatus) this.statusLine.show(text);
  }

  /** Text of a result, as it is in a pipe. */
  write(text: string): void {
    this.statusLine.above(() => this.streams.output.write(this.streams.output.isTTY ? printable(text) : text));
  }

  line(text = ''): void {
    this.write(`${text}\n`);
  }

  json(value: unknown): void {
    this.streams.output.write(`${JSON.stringify(value)}\n`);
  }

  /** About the progress of a command; nothing with `--json`. */
  note(text: string, style?: Style): void {
    this.noteText(`${text}\n`, style);
  }

  noteText(text: string, style?: Style): void {
    if (this.options.json) return;
    const { errors } = this.streams;
    const shown = errors.isTTY ? printable(text) : text;
    this.statusLine.above(() => errors.write(style === undefined ? shown : this.style(shown, style)));
  }

  /** Something is wrong. Also with `--json`. */
  complain(text: string): void {
    const { errors } = this.streams;
    const shown = errors.isTTY ? printable(text) : text;
    this.statusLine.above(() => errors.write(`${this.style('rondo:', 'red')} ${shown}\n`));
  }

  style(text: string, style: Style): string {
    const isOn = this.options.colour && this.streams.errors.isTTY === true;
    return isOn ? `\u001b[${styles[style]}m${text}\u001b[0m` : text;
  }

  /** A row for each item, in columns. */
  table(rows: readonly (readonly string[])[]): void {
    const widths = (rows[0] ?? []).map((_, column) =>
      rows.reduce((widest, row) => Math.max(widest, (row[column] ?? '').length), 0),
    );
    for (const row of rows)
      this.line(
        row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd(),
      );
  }

  /** The answer of a person; undefined at the end of the input, or when the question is interrupted or withdrawn by the signal. */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined> {
    return this.question(question, this.streams.errors, signal);
  }

  /** The same without showing what is typed. */
  async askSecret(question: string): Promise<string | undefined> {
    const hidden = this.question('', new Writable({ write: (_chunk, _encoding, done) => done() }));
    this.streams.errors.write(printable(question)); // Only now: before, the terminal itself shows what is typed.
    const answer = await hidden;
    this.streams.errors.write('\n');
    return answer;
  }

  private async question(question: string, output: Writable, signal?: AbortSignal): Promise<string | undefined> {
    const { input } = this.streams;
    const reader = createInterface({ input, output, terminal: input.isTTY === true });
    const ended = new AbortController();
    reader.once('SIGINT', () => ended.abort());
    reader.once('close', () => ended.abort());
    const withdraw = () => {
      reader.close();
      output.write('\n');
    };
    signal?.addEventListener('abort', withdraw, { once: true });
    try {
      return await reader.question(printable(question), { signal: ended.signal });
    } catch (error) {
      if (ended.signal.aborted) return undefined;
      throw error;
    } finally {
      signal?.removeEventListener('abort', withdraw);
      reader.close();
    }
  }

  /** The input that is not from a person, whole. */
  async readPiped(): Promise<string | undefined> {
    return (await this.readPipedBytes())?.toString('utf8');
  }

  /** The same byte for byte. */
  async readPipedBytes(): Promise<Buffer<ArrayBuffer> | undefined> {
    if (this.streams.input.isTTY) return undefined;
    const chunks: Buffer[] = [];
    for await (const chunk of this.streams.input) chunks.push(Buffer.from(chunk as Buffer)); // the input has no encoding
    return Buffer.concat(chunks);
  }

  /** Lines of the input, typed or piped. */
  lines(): AsyncIterable<string> {
    return createInterface({ input: this.streams.input });
  }

  /** Called for each line of the input, until the function that it returns is called. */
  onLine(listener: () => void): () => void {
    const reader = createInterface({ input: this.streams.input });
    reader.on('line', listener);
    return () => reader.close();
  }

  get input(): Readable {
    return this.streams.input;
  }

  get output(): Writable {
    return this.streams.output;
  }
}

/** A terminal. Its width is 0 or absent where it is not known. */
type Screen = Writable & { readonly isTTY?: boolean; readonly columns?: number };

const erase = '\r\u001b[K';

/** The last line of a terminal, which is written anew while other output passes above it. */
class StatusLine {
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
