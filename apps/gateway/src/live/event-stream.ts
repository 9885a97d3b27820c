import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { readIncarnation } from '@rondo/contract';
import type { RunAddress } from '@rondo/persistence';
import { anySignal } from '@rondo/platform';
import type { Holding } from '../auth/memory-budget';
import type { Ending, Sink } from './run-subscriber';
import type { NewRunLog, RunSubscriptions, SubscribeOptions } from './run-subscriptions';
import type { SubscriberEvent } from './stream-notices';

const keepAliveMs = 15_000;
const reconnectMs = 1_000;

/** With this many unread bytes a client is sent nothing more until it has read them. */
const fullAtBytes = 256 * 1024;

/** How the events of a run, or of a thread, are written to a client. */
export interface EventFormat<Event = SubscriberEvent> {
  readonly headers: Readonly<Record<string, string>>;
  /** Sent before all events. */
  readonly opening: string;
  /** Empty for an event that the client is not shown. */
  readonly write: (event: Event, json: string) => string;
  /** The last event was written: the stream ends, though the run may go on. */
  readonly isOver: () => boolean;
  /** Sent while nothing happens, so that proxies do not close the connection as dead. A comment unless given. */
  readonly keepAlive?: string;
  /** Sent at the end, where it is one that the client is told. */
  readonly writeEnd?: (ending: Ending) => string | Promise<string>;
}

/**
 * A fact's `id` is its seq, so `Last-Event-ID` resumes after it; deltas and notices have none. After the database was replaced
 * it has the epoch, too, because another fact may have had the same seq.
 */
const writeId = ({ seq, epoch }: SubscriberEvent): string => {
  if (seq === null) return '';
  return readIncarnation(epoch) === 0 ? `id: ${seq}\n` : `id: ${seq}.${epoch}\n`;
};

const ownFormat: EventFormat = {
  headers: {},
  opening: `retry: ${reconnectMs}\n\n`,
  write: (event, json) => `${writeId(event)}event: ${event.type}\ndata: ${json}\n\n`,
  isOver: () => false,
};

/** Server-sent events. */
class EventStreamSink<Event> {
  constructor(
    private readonly response: ServerResponse,
    private readonly unread: Pick<Holding, 'take' | 'keep'>,
    private readonly wire: { readonly format: EventFormat<Event>; readonly end: () => void },
  ) {}

  send(event: Event, json: string): boolean {
    const { format, end } = this.wire;
    const text = format.write(event, json);
    const flushed = text === '' || this.response.write(text);
    if (format.isOver()) end();
    if (!flushed) return this.unread.take(json.length) && this.response.writableLength < fullAtBytes;
    this.unread.keep();
    return true;
  }

  async waitUntilDrained(): Promise<void> {
    if (this.response.writableNeedDrain) await once(this.response, 'drain');
    this.unread.keep();
  }

  keepAlive(): void {
    if (!this.response.writableNeedDrain) this.response.write(this.wire.format.keepAlive ?? ': keep-alive\n\n');
  }
}

/** Sends events until the signal is aborted or there are no more. */
export type Subscribe<Event> = (sink: EventStreamSink<Event>, signal: AbortSignal) => Promise<Ending>;

interface EventStreamOptions<Event> {
  readonly signal: AbortSignal;
  readonly response: ServerResponse;
  /** What the client's account holds of the memory for events that were not read. Where no more fits, it has to read first. */
  readonly unread: Holding;
  readonly format: EventFormat<Event>;
}

type RunStreamOptions = Omit<SubscribeOptions, 'sink'> &
  Omit<EventStreamOptions<SubscriberEvent>, 'format'> & {
    /** That of the API where none is given. */
    readonly format?: EventFormat | undefined;
    /** What is done before the events are read, while the client has the head already. */
    readonly prepare?: ((signal: AbortSignal) => Promise<void>) | undefined;
    /** Of a run that this request has just created: its log need not be read. */
    readonly begun?: NewRunLog | undefined;
  };

/** Serves one client's event stream until the run is over, the client disconnects, or it reads too slowly. */
export async function serveEventStream(
  subscriptions: RunSubscriptions,
  address: RunAddress,
  { format = ownFormat, after, afterEpoch, prepare, begun, ...options }: RunStreamOptions,
): Promise<void> {
  const subscribe = async (sink: Sink, signal: AbortSignal) => {
    await prepare?.(signal);
    if (begun) return (await subscriptions.subscribeToBegun(address, { sink, signal }, begun)).ending;
    return (await subscriptions.subscribe(address, { after, afterEpoch, sink, signal })).ending;
  };
  await serveEvents(subscribe, { ...options, format });
}

/** The same for the events of any subscription. */
export async function serveEvents<Event>(
  subscribe: Subscribe<Event>,
  { response, unread, format, signal }: EventStreamOptions<Event>,
): Promise<void> {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
    ...format.headers,
  });
  response.flushHeaders();
  if (format.opening !== '') response.write(format.opening);

  const over = new AbortController();
  const either = anySignal([signal, over.signal]);
  const sink = new EventStreamSink(response, unread, { format, end: () => over.abort() });
  const keepAlive = setInterval(() => sink.keepAlive(), keepAliveMs);
  const ending = await subscribe(sink, either.signal).finally(() => {
    clearInterval(keepAlive);
    either.release();
    unread.keep();
  });
  const last = (await format.writeEnd?.(ending)) ?? '';
  if (last !== '') response.end(last);
  else if (ending === 'stalled' || ending === 'cut' || isCutShort(format)) response.destroy();
  else response.end();
}

/** Its client would take the end of the response for the end of the message. */
const isCutShort = <Event>(format: EventFormat<Event>): boolean =>
  (format as unknown) !== ownFormat && !format.isOver();
