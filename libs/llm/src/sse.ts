import { StringDecoder } from 'node:string_decoder';

/** A line longer than this is no event of a model, and would only fill memory. */
const maxLineLength = 16 * 1024 * 1024;

/**
 * Reads the data of server-sent events from bytes, however the bytes are split. Names and ids of events are ignored: in both
 * protocols the data has the type of the event. An event that the end of the stream cuts off is dropped.
 */
export class SseReader {
  private readonly utf8 = new StringDecoder('utf8');
  private line = '';
  private data: string | undefined;
  private begun = false;
  private afterCarriageReturn = false;

  /** Returns the data of every event that these bytes complete. */
  push(bytes: Uint8Array): string[] {
    const fresh = this.decode(bytes);
    if (!fresh.includes('\n')) {
      this.keep(this.line + fresh);
      return [];
    }
    const text = this.line + fresh;
    const events: string[] = [];
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      if (end > start) this.readLine(text, start, end);
      else {
        if (this.data) events.push(this.data);
        this.data = undefined;
      }
      start = end + 1;
    }
    this.keep(text.slice(start));
    return events;
  }

  private readLine(text: string, start: number, end: number): void {
    if (!text.startsWith('data:', start)) return;
    const space = text.charCodeAt(start + 5) === 0x20 ? 1 : 0;
    const value = text.slice(start + 5 + space, end);
    this.data = this.data === undefined ? value : `${this.data}\n${value}`;
  }

  private keep(line: string): void {
    if (line.length + (this.data?.length ?? 0) > maxLineLength)
      throw new Error('A line of the event stream is too long');
    this.line = line;
  }

  /** Text without a byte order mark, with every kind of line end as `\n`. */
  private decode(bytes: Uint8Array): string {
    let text = this.utf8.write(bytes);
    if (text === '') return text;
    if (!this.begun && text.startsWith('\uFEFF')) text = text.slice(1);
    this.begun = true;
    if (this.afterCarriageReturn && text.startsWith('\n')) text = text.slice(1);
    this.afterCarriageReturn = text.endsWith('\r');
    return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  }
}
