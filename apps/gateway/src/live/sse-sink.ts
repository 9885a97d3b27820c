import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Sink } from './run-subscriber';
import type { WatchEvent } from './stream-notices';

/** Beyond this many bytes that the client has not read, it gets nothing more for now. */
const fullAtBytes = 256 * 1024;

/** Server-sent events: a fact's `id` is its seq, so `Last-Event-ID` resumes after it; deltas and notices have none. */
export class SseSink implements Sink {
  constructor(private readonly response: ServerResponse) {}

  send(event: WatchEvent, json: string): boolean {
    const id = event.seq === null ? '' : `id: ${event.seq}\n`;
    const flushed = this.response.write(`${id}event: ${event.type}\ndata: ${json}\n\n`);
    return flushed || this.response.writableLength < fullAtBytes;
  }

  async drained(): Promise<void> {
    if (this.response.writableNeedDrain) await once(this.response, 'drain');
  }

  /** A comment, so that proxies do not take the silence of a waiting run for a dead connection. */
  keepAlive(): void {
    if (!this.response.writableNeedDrain) this.response.write(': keep-alive\n\n');
  }
}
