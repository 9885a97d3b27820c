import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** The client has disconnected, so there is no reply to send. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** A shared instance, because every response ends with it and capturing a stack trace is costly. */
const hungUp = new ClientGone();

/** Time for written data to reach the client before a reset discards it. */
const settleMs = 50;

/** A response in progress. Every wait on it rejects with ClientGone when the connection is closed. */
export class ClientConnection {
  private readonly gone = new AbortController();

  constructor(
    private readonly response: ServerResponse,
    onHangUp: () => void,
  ) {
    response.once('close', () => {
      if (!response.writableFinished && !this.gone.signal.aborted) onHangUp();
      this.gone.abort(hungUp);
    });
  }

  /** Sent together with the first write. */
  prepare(status: number, headers: Record<string, string>): void {
    this.response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) this.response.setHeader(name, value);
  }

  async wait(ms: number): Promise<void> {
    if (ms > 0) await this.orGone(sleep(ms, undefined, { signal: this.gone.signal }));
  }

  async write(text: string): Promise<void> {
    if (this.response.destroyed) throw hungUp;
    if (!this.response.write(text)) await this.orGone(once(this.response, 'drain', { signal: this.gone.signal }));
  }

  end(text?: string): void {
    if (!this.response.destroyed) this.response.end(text);
  }

  /** Sends an error response instead of the planned one, or resets the connection if that one has begun. */
  replace(status: number, headers: Record<string, string>, body: string): void {
    if (this.response.headersSent) {
      this.response.destroy();
      return;
    }
    this.prepare(status, headers);
    this.end(body);
  }

  async hang(): Promise<never> {
    for (;;) await this.wait(60_000);
  }

  async reset(): Promise<never> {
    await this.wait(settleMs);
    this.gone.abort(hungUp);
    this.response.socket?.resetAndDestroy();
    throw hungUp;
  }

  private async orGone(waiting: Promise<unknown>): Promise<void> {
    try {
      await waiting;
    } catch (error) {
      throw this.gone.signal.aborted ? hungUp : error;
    }
  }
}
