import type { Sink } from './follower';
import { ReadyText } from './ready-text';
import type { WatchEvent } from './stream-notices';

/** What this file needs of a Socket.IO socket. */
export interface Wire {
  emit(name: 'event', event: ReadyText): unknown;
  readonly conn: { on(event: 'drain', listener: () => void): unknown };
}

const fullAtEvents = 256;
const fullAtCharacters = 1024 * 1024;

/**
 * One connection's way out, shared by all its subscriptions. Socket.IO itself would buffer without end (R22), so this
 * counts what was given to it since the connection last drained: at once on a free wire, later on a full one.
 */
export class SocketSink implements Sink {
  private waitingEvents = 0;
  private waitingCharacters = 0;
  private onDrained: (() => void)[] = [];

  constructor(private readonly wire: Wire) {
    wire.conn.on('drain', () => this.drain());
  }

  send(_event: WatchEvent, json: string): boolean {
    this.waitingEvents += 1;
    this.waitingCharacters += json.length;
    this.wire.emit('event', new ReadyText(json));
    return !this.isFull();
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
