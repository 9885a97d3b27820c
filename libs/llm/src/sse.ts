import { StringDecoder } from 'node:string_decoder';
import { readJson } from '@rondo/contract';

/** A line longer than this is no event of a model, and would only fill memory. */
const maxLineLength = 16 * 1024 * 1024;

/** `name` is that of the line `event:`, which some servers write where others have a type in the data. */
export interface SseEvent {
  readonly data: string;
  readonly name?: string;
}

/**
 * Reads server-sent events from bytes, however the bytes are split. Some servers leave out the empty line between two events, or
 * after the last one: an object that is whole is an event, too.
 */
export class SseReader {
  private readonly utf8 = new StringDecoder('utf8');
  private line = '';
  private data: string | undefined;
  /** The name that the lines so far give to the event, and the one that it had before its data. */
  private name: string | undefined;
  private nameBefore: string | undefined;
  private begun = false;
  private afterCarriageReturn = false;

  /** Returns every event that these bytes complete. */
  push(bytes: Uint8Array): SseEvent[] {
    const fresh = this.decode(bytes);
    if (!fresh.includes('\n')) {
      this.keep(this.line + fresh);
      return [];
    }
    const text = this.line + fresh;
    const events: SseEvent[] = [];
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      if (end > start) this.readLine(text.slice(start, end), events);
      else this.complete(this.name, events);
      start = end + 1;
    }
    this.keep(text.slice(start));
    return events;
  }

  /** Returns what the end of the stream completes. An event that is cut off is dropped. */
  end(): SseEvent[] {
    const events: SseEvent[] = [];
    if (this.line !== '') this.readLine(this.line, events);
    this.line = '';
    if (isWhole(this.data)) this.complete(this.name, events);
    return events;
  }

  private readLine(line: string, events: SseEvent[]): void {
    if (line.startsWith('event:') && line !== usualName) this.name = valueIn(line, 6);
    if (!line.startsWith('data:')) return;
    const value = valueIn(line, 5);
    if (this.data !== undefined && followsWhole(this.data, value)) {
      const { name } = this;
      this.complete(this.nameBefore, events);
      this.name = name;
    }
    if (this.data === undefined) this.nameBefore = this.name;
    this.data = this.data === undefined ? value : `${this.data}\n${value}`;
  }

  private complete(name: string | undefined, events: SseEvent[]): void {
    if (this.data) events.push({ data: this.data, ...(name !== undefined && { name }) });
    this.data = undefined;
    this.name = undefined;
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

const valueIn = (line: string, start: number): string =>
  line.slice(line.charCodeAt(start) === 0x20 ? start + 1 : start);

/** The name of an event without a name, which some servers write all the same. */
const usualName = 'event: message';

const lastEvent = '[DONE]';

/** Between the lines of one JSON text, no object follows another at once: what does is the next event. */
const followsWhole = (data: string, next: string): boolean =>
  data === lastEvent || (data.endsWith('}') && (next.startsWith('{') || next === lastEvent));

function isWhole(data: string | undefined): boolean {
  if (data === undefined || data === lastEvent) return data !== undefined;
  return data.trimEnd().endsWith('}') && readJson(data) !== undefined;
}
