import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { RunAddress } from '@rondo/persistence';
import type { Holding } from '../auth/memory-budget';
import type { Sink } from './run-subscriber';
import type { RunSubscriptions, SubscribeOptions } from './run-subscriptions';
import type { SubscriberEvent } from './stream-notices';

const keepAliveMs = 15_000;
const reconnectMs = 1_000;

/** With this many unread bytes a client is sent nothing more until it has read them. */
const fullAtBytes = 256 * 1024;

/** Server-sent events: a fact's `id` is its seq, so `Last-Event-ID` resumes after it; deltas and notices have none. */
class EventStreamSink implements Sink {
  constructor(
    private readonly response: ServerResponse,
    private readonly unread: Pick<Holding, 'take' | 'keep'>,
  ) {}

  send(event: SubscriberEvent, json: string): boolean {
    const id = event.seq === null ? '' : `id: ${event.seq}\n`;
    const flushed = this.response.write(`${id}event: ${event.type}\ndata: ${json}\n\n`);
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
}

/** Serves one client's event stream until the run is over, the client disconnects, or it reads too slowly. */
export async function serveEventStream(
  subscriptions: RunSubscriptions,
  address: RunAddress,
  { response, unread, ...options }: EventStreamOptions,
): Promise<void> {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
  });
  response.write(`retry: ${reconnectMs}\n\n`);

  const sink = new EventStreamSink(response, unread);
  const keepAlive = setInterval(() => sink.keepAlive(), keepAliveMs);
  const ending = await subscriptions
    .subscribe(address, { ...options, sink })
    .then((subscription) => subscription.ending)
    .finally(() => {
      clearInterval(keepAlive);
      unread.keep();
    });
  if (ending === 'stalled') response.destroy();
  else response.end();
}
