import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** How long the end of a whole reply may take to arrive before its connection is given up. */
const releaseTimeoutMs = 1000;

/** Hears a body. */
export interface Listener {
  piece(bytes: Uint8Array): void;
  /** No piece follows; with an error where the body broke off. May be said more than once: the first time counts. */
  over(error?: Error): void;
}

/** An answer whose body is heard piece by piece, as the network brings it. */
export class HttpReply {
  constructor(private readonly message: IncomingMessage) {}

  get status(): number {
    return this.message.statusCode ?? 0;
  }

  get headers(): IncomingHttpHeaders {
    return this.message.headers;
  }

  listen(listener: Listener): void {
    this.message.on('data', (bytes: Buffer) => listener.piece(bytes));
    this.message.on('end', () => listener.over());
    this.message.on('error', (error) => listener.over(error));
    this.message.on('close', () => {
      if (!this.message.readableEnded) listener.over(new Error('The connection was closed.'));
    });
  }

  /** What comes meanwhile is not fetched. */
  pause(): void {
    this.message.pause();
  }

  resume(): void {
    this.message.resume();
  }

  /** The body, or its beginning where it is long. */
  text(maxBytes: number): Promise<string> {
    const pieces: Uint8Array[] = [];
    let left = maxBytes;
    return new Promise((resolve, reject) => {
      const over = (error?: Error) => {
        if (error) reject(error);
        else resolve(Buffer.concat(pieces).toString('utf8', 0, maxBytes));
      };
      const piece = (bytes: Uint8Array) => {
        if (left <= 0) return;
        pieces.push(bytes);
        left -= bytes.length;
        if (left > 0) return;
        over();
        this.release();
      };
      this.listen({ piece, over });
    });
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
}
