import type { Holding } from '../auth/memory-budget';
import type { Sink } from './run-subscriber';
import { SerializedEvent } from './serialized-event';
import type { SubscriberEvent } from './stream-notices';

/** The part of a Socket.IO socket that this file uses. */
export interface EventSocket {
  emit(name: 'event', event: SerializedEvent): unknown;
  readonly conn: {
    on(event: 'drain', listener: () => void): unknown;
    /** Packets are queued while it is not writable, and are then sent together. */
    readonly transport: { writable: boolean };
  };
}

const fullAtEvents = 256;
const fullAtCharacters = 1024 * 1024;

/**
 * The outgoing side of one connection, shared by all its subscriptions. Socket.IO buffers without a limit, so this counts
 * what was sent since the connection last drained: immediately while the client reads, later while it does not.
 *
 * Events of one turn of the event loop are sent together: by itself the connection would send the first event alone,
 * and the others after that one.
 */
export class SocketSink implements Sink {
  private undrainedEvents = 0;
  private undrainedCharacters = 0;
  private isRefused = false;
  private batch: SerializedEvent[] = [];
  private onDrained: (() => void)[] = [];

  /** `unread`: what the account of the connection holds of its memory. Where no more fits, the connection is full, too. */
  constructor(
    private readonly socket: EventSocket,
    private readonly unread: Pick<Holding, 'take' | 'keep'>,
  ) {
    socket.conn.on('drain', () => this.drain());
  }

  send(_event: SubscriberEvent, json: string): boolean {
    this.undrainedEvents += 1;
    this.undrainedCharacters += json.length;
    this.isRefused ||= !this.unread.take(json.length);
    if (this.batch.length === 0) process.nextTick(() => this.flush());
    this.batch.push(new SerializedEvent(json));
    return !this.isFull();
  }

  private flush(): void {
    const { transport } = this.socket.conn;
    const { writable } = transport;
    transport.writable = false;
    const last = this.batch.length - 1;
    for (const [index, event] of this.batch.entries()) {
      if (index === last) transport.writable = writable;
      this.socket.emit('event', event);
    }
    this.batch = [];
  }

  async waitUntilDrained(): Promise<void> {
    while (this.isFull()) await new Promise<void>((resolve) => this.onDrained.push(resolve));
  }

  private drain(): void {
    this.undrainedEvents = 0;
    this.undrainedCharacters = 0;
    this.isRefused = false;
    this.unread.keep();
    for (const resolve of this.onDrained.splice(0)) resolve();
  }

  private isFull(): boolean {
    return this.isRefused || this.undrainedEvents >= fullAtEvents || this.undrainedCharacters >= fullAtCharacters;
  }
}
