import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { RunAddress } from '@rondo/persistence';
import { anySignal } from '@rondo/platform';
import type { Holding } from '../auth/memory-budget';
import type { Sink } from './run-subscriber';
import type { RunSubscriptions, SubscribeOptions } from './run-subscriptions';
import type { SubscriberEvent } from './stream-notices';

const keepAliveMs = 15_000;
const reconnectMs = 1_000;

/** With this many unread bytes a client is sent nothing more until it has read them. */
const fullAtBytes = 256 * 1024;

/** How the events of a run are written to a client. */
export interface EventFormat {
  readonly headers: Readonly<Record<string, string>>;
  /** Sent before all events. */
  readonly opening: string;
  /** Empty for an event that the client is not shown. */
  readonly write: (event: SubscriberEvent, json: string) => string;
  /** The last event was written: the stream ends, though the run may go on. */
  readonly isOver: () => boolean;
}

/** A fact's `id` is its seq, so `Last-Event-ID` resumes after it; deltas and notices have none. */
const ownFormat: EventFormat = {
  headers: {},
  opening: `retry: ${reconnectMs}\n\n`,
  write: (event, json) => `${event.seq === null ? '' : `id: ${event.seq}\n`}event: ${event.type}\ndata: ${json}\n\n`,
  isOver: () => false,
};

/** Server-sent events. */
class EventStreamSink implements Sink {
  constructor(
    private readonly response: ServerResponse,
    private readonly unread: Pick<Holding, 'take' | 'keep'>,
    private readonly wire: { readonly format: EventFormat; readonly end: () => void },
  ) {}

  send(event: SubscriberEvent, json: string): boolean {
    const { format, end } = this.wire;
    const text = format.write(event, json);
    const flushed = text === '' || this.response.write(text);
    if (format.isOver()) end();
    if (!flushed) return this.unread.take(json.length) && this.response.writableLength < fullAtBytes;
    this.unread.keep();
    return true;
  }

  async drained(): Promise<void> {
    if (this.response.writableNeedDrain) await once(this.response, 'drain');
    this.unread.keep();
  }

  /** A comment, so that proxies do not close the connection of a waiting run as dead. */
  keepAlive(): void {
    if (!this.response.writableNeedDrain) this.response.write(': keep-alive\n\n');
  }
}

interface EventStreamOptions extends Omit<SubscribeOptions, 'sink'> {
  readonly response: ServerResponse;
  /** What the client's account holds of the memory for events that were not read. Where no more fits, it has to read first. */
  readonly unread: Holding;
  /** That of the API where none is given. */
  readonly format?: EventFormat | undefined;
}

/** Serves one client's event stream until the run is over, the client disconnects, or it reads too slowly. */
export async function serveEventStream(
  subscriptions: RunSubscriptions,
  address: RunAddress,
  { response, unread, format = ownFormat, signal, ...options }: EventStreamOptions,
): Promise<void> {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
    ...format.headers,
  });
  response.write(format.opening);

  const over = new AbortController();
  const either = anySignal([signal, over.signal]);
  const sink = new EventStreamSink(response, unread, { format, end: () => over.abort() });
  const keepAlive = setInterval(() => sink.keepAlive(), keepAliveMs);
  const ending = await subscriptions
    .subscribe(address, { ...options, signal: either.signal, sink })
    .then((subscription) => subscription.ending)
    .finally(() => {
      clearInterval(keepAlive);
      either.release();
      unread.keep();
    });
  if (ending === 'stalled' || isCutShort(format)) response.destroy();
  else response.end();
}

/** Its client would take the end of the response for the end of the message. */
const isCutShort = (format: EventFormat): boolean => format !== ownFormat && !format.isOver();
