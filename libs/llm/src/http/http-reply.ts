import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

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
  private listener: Listener | undefined;
  /** Came in the same packet as the status, before anybody could listen. */
  private readonly unheard: Uint8Array[] = [];
  private ending: { readonly error: Error | undefined } | undefined;

  constructor(
    readonly status: number,
    private readonly said: Readonly<Record<string, string | string[] | undefined>>,
    private readonly controller: Dispatcher.DispatchController,
  ) {}

  /** One that was said twice counts as it was said first. */
  get headers(): IncomingHttpHeaders {
    const headers: IncomingHttpHeaders = {};
    for (const [name, value] of Object.entries(this.said)) headers[name] = Array.isArray(value) ? value[0] : value;
    return headers;
  }

  /** For the connection to tell what it brings. */
  hear(bytes: Uint8Array): void {
    if (this.listener) this.listener.piece(bytes);
    else this.unheard.push(bytes);
  }

  /** For the connection to tell that it brings nothing more. */
  end(error?: Error): void {
    this.ending = { error };
    this.listener?.over(error);
  }

  /** Whoever listens last is the one who hears. */
  listen(listener: Listener): void {
    this.listener = listener;
    for (const bytes of this.unheard.splice(0)) listener.piece(bytes);
    if (this.ending) listener.over(this.ending.error);
  }

  /** What comes meanwhile is not fetched. */
  pause(): void {
    this.controller.pause();
  }

  /** Nothing is heard before this has returned. */
  resume(): void {
    queueMicrotask(() => this.controller.resume());
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
    this.resume();
    if (this.ending) return;
    const timer = setTimeout(() => this.close(), releaseTimeoutMs);
    this.listen({ piece: () => {}, over: () => clearTimeout(timer) });
  }

  close(): void {
    this.controller.abort(new Error('The reply was closed.'));
  }
}
