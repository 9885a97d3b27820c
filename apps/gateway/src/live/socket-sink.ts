import type { Sink } from './run-subscriber';
import { ReadyText } from './ready-text';
import type { WatchEvent } from './stream-notices';

/** What this file needs of a Socket.IO socket. */
export interface Wire {
  emit(name: 'event', event: ReadyText): unknown;
  readonly conn: {
    on(event: 'drain', listener: () => void): unknown;
    /** Packets wait while it is not writable, and then leave in one go. */
    readonly transport: { writable: boolean };
  };
}

const fullAtEvents = 256;
const fullAtCharacters = 1024 * 1024;

/**
 * One connection's way out, shared by all its subscriptions. Socket.IO itself would buffer without end (R22), so this
 * counts what was given to it since the connection last drained: at once on a free wire, later on a full one.
 *
 * What is sent in one turn of the event loop leaves together: by itself the connection would send the first event alone,
 * and the others when that one has left.
 */
export class SocketSink implements Sink {
  private waitingEvents = 0;
  private waitingCharacters = 0;
  private leaving: ReadyText[] = [];
  private onDrained: (() => void)[] = [];

  constructor(private readonly wire: Wire) {
    wire.conn.on('drain', () => this.drain());
  }

  send(_event: WatchEvent, json: string): boolean {
    this.waitingEvents += 1;
    this.waitingCharacters += json.length;
    if (this.leaving.length === 0) process.nextTick(() => this.sendTogether());
    this.leaving.push(new ReadyText(json));
    return !this.isFull();
  }

  private sendTogether(): void {
    const { transport } = this.wire.conn;
    const { writable } = transport;
    transport.writable = false;
    const last = this.leaving.length - 1;
    for (const [index, event] of this.leaving.entries()) {
      if (index === last) transport.writable = writable;
      this.wire.emit('event', event);
    }
    this.leaving = [];
  }

  async drained(): Promise<void> {
    while (this.isFull()) await new Promise<void>((resolve) => this.onDrained.push(resolve));
  }

  private drain(): void {
    this.waitingEvents = 0;
    this.waitingCharacters = 0;
    for (const resolve of this.onDrained.splice(0)) resolve();
  }

  private isFull(): boolean {
    return this.waitingEvents >= fullAtEvents || this.waitingCharacters >= fullAtCharacters;
  }
}
