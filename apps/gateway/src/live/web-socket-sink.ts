import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { Holding } from '../auth/memory-budget';

const fullAtBytes = 256 * 1024;

/** The outgoing side of a WebSocket, which buffers without a limit: this says when nothing more may be sent. */
export class WebSocketSink {
  private isRefused = false;
  private onDrained: (() => void)[] = [];

  /** `unread`: what the account holds of the memory for what was not read. Where no more fits, the socket is full, too. */
  constructor(
    private readonly client: Pick<WebSocket, 'send' | 'bufferedAmount' | 'readyState' | 'OPEN'>,
    private readonly unread: Pick<Holding, 'take' | 'keep'>,
  ) {}

  /** Nothing where the client has left. */
  send(text: string): void {
    if (!this.isOpen) return;
    this.isRefused ||= !this.unread.take(text.length);
    this.client.send(text, () => this.client.bufferedAmount === 0 && this.drain());
  }

  isFull(): boolean {
    return this.isOpen && (this.isRefused || this.client.bufferedAmount >= fullAtBytes);
  }

  async waitUntilDrained(): Promise<void> {
    while (this.isFull()) await new Promise<void>((resolve) => this.onDrained.push(resolve));
  }

  /** False where it stays full. */
  async drainsWithin(ms: number): Promise<boolean> {
    if (!this.isFull()) return true;
    const over = new AbortController();
    const limit = sleep(ms, false, { signal: over.signal }).catch(() => false);
    const isDrained = await Promise.race([this.waitUntilDrained().then(() => true), limit]);
    over.abort();
    return isDrained;
  }

  /** Nothing is kept for a client that has left. */
  close(): void {
    this.drain();
  }

  private get isOpen(): boolean {
    return this.client.readyState === this.client.OPEN;
  }

  private drain(): void {
    this.isRefused = false;
    this.unread.keep();
    for (const resolve of this.onDrained.splice(0)) resolve();
  }
}
