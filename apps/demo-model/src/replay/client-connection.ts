import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** The client has disconnected, so there is no reply to send. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** One for all, since every response ends with it and a stack trace costs. */
const hungUp = new ClientGone();

/** How long what was written may take to reach the client's reader before a reset throws it away. */
const settleMs = 50;

/** The response as a player sees it: every wait on it ends with ClientGone as soon as the connection is gone. */
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

  /** Leaves with the first thing written. */
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

  /** An answer in place of the one that was planned; when that one has begun, all that is left is to break it off. */
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
