import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** How long the end of a whole reply may take to arrive before its connection is given up. */
const releaseTimeoutMs = 1000;

/** An answer whose body is read piece by piece, as the network brings it: what nobody reads yet is not fetched either. */
export class HttpReply {
  private wake = () => {};
  private failure: Error | undefined;

  constructor(private readonly message: IncomingMessage) {
    message.on('readable', () => this.wake());
    message.on('end', () => this.wake());
    message.on('error', (error) => this.fail(error));
    message.on('close', () => this.fail(new Error('The connection was closed.')));
  }

  get status(): number {
    return this.message.statusCode ?? 0;
  }

  get headers(): IncomingHttpHeaders {
    return this.message.headers;
  }

  /** The next piece; undefined behind the last one. */
  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const piece = this.message.read() as Buffer | null; // a stream of bytes
      if (piece) return piece;
      if (this.message.readableEnded) return undefined;
      if (this.failure) throw this.failure;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** The body, or its beginning where it is long. */
  async text(maxBytes: number): Promise<string> {
    const pieces: Uint8Array[] = [];
    for (let left = maxBytes; left > 0; left -= pieces.at(-1)?.length ?? 0) {
      const piece = await this.read();
      if (!piece) break;
      pieces.push(piece);
    }
    this.release();
    return Buffer.concat(pieces).toString('utf8', 0, maxBytes);
  }

  /** Lets the connection carry another request once the rest of the body, which nobody wants, has come. */
  release(): void {
    this.message.resume();
    if (this.message.complete) return;
    const timer = setTimeout(() => this.close(), releaseTimeoutMs);
    this.message.once('close', () => clearTimeout(timer));
  }

  close(): void {
    this.message.destroy();
  }

  private fail(error: Error): void {
    this.failure ??= error;
    this.wake();
  }
}
