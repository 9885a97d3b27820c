import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import type { Dispatcher } from 'undici';

/** How long the rest of a complete reply may take before its connection is closed. */
const releaseTimeoutMs = 1000;

/** Receives a body. */
export interface BodyReader {
  onData(bytes: Uint8Array): void;
  /** No data follows; with an error if the body is incomplete. May be called more than once: the first call counts. */
  onEnd(error?: Error): void;
}

/** What undoes the encoding of a body: no request asks for one, but some proxies and servers compress all the same. */
function createDecoder(encoding = ''): Transform | undefined {
  if (/^(?:x-)?gzip$|^deflate$/i.test(encoding)) return createUnzip();
  return /^br$/i.test(encoding) ? createBrotliDecompress() : undefined;
}

/** A response whose body is read as it arrives. */
export class HttpReply {
  private reader: BodyReader | undefined;
  /** Data that arrived before a reader was set, for example in the packet of the status. */
  private readonly unread: Uint8Array[] = [];
  private ending: { readonly error: Error | undefined } | undefined;
  private observer: ((bytes: Uint8Array) => void) | undefined;
  private readonly decoder: Transform | undefined;
  private connectionError: Error | undefined;

  constructor(
    readonly status: number,
    private readonly rawHeaders: Readonly<Record<string, string | string[] | undefined>>,
    private readonly controller: Dispatcher.DispatchController,
  ) {
    this.decoder = createDecoder(this.headers['content-encoding']?.trim())
      ?.on('data', (bytes: Uint8Array) => this.pass(bytes))
      .on('end', () => this.finish(this.connectionError))
      .on('error', (error) => this.finish(this.connectionError ?? error));
  }

  /** The first value of a repeated header counts. */
  get headers(): IncomingHttpHeaders {
    const headers: IncomingHttpHeaders = {};
    for (const [name, value] of Object.entries(this.rawHeaders))
      headers[name] = Array.isArray(value) ? value[0] : value;
    return headers;
  }

  /** Called by the connection with each part of the body. */
  deliver(bytes: Uint8Array): void {
    if (this.decoder) this.decoder.write(bytes);
    else this.pass(bytes);
  }

  /** Called by the connection when no data follows. */
  end(error?: Error): void {
    if (!this.decoder || this.decoder.destroyed) {
      this.finish(error);
      return;
    }
    this.connectionError = error;
    this.decoder.end();
  }

  private pass(bytes: Uint8Array): void {
    this.observer?.(bytes);
    if (this.reader) this.reader.onData(bytes);
    else this.unread.push(bytes);
  }

  /** Passes each part of the body to this function, too, also those that were not read yet. */
  observe(observer: (bytes: Uint8Array) => void): void {
    for (const bytes of this.unread) observer(bytes);
    this.observer = observer;
  }

  private finish(error: Error | undefined): void {
    this.ending ??= { error };
    this.reader?.onEnd(error);
  }

  /** Delivers the body to this reader, and no longer to an earlier one. */
  read(reader: BodyReader): void {
    this.reader = reader;
    for (const bytes of this.unread.splice(0)) reader.onData(bytes);
    if (this.ending) reader.onEnd(this.ending.error);
  }

  /** Stops reading from the network. */
  pause(): void {
    this.controller.pause();
    this.decoder?.pause();
  }

  /** Reads from the network again; data is delivered only after the caller has returned. */
  resume(): void {
    queueMicrotask(() => {
      this.controller.resume();
      this.decoder?.resume();
    });
  }

  /** The body, cut at `maxBytes`. */
  text(maxBytes: number): Promise<string> {
    const parts: Uint8Array[] = [];
    let left = maxBytes;
    return new Promise((resolve, reject) => {
      const onEnd = (error?: Error) => {
        if (error) reject(error);
        else resolve(Buffer.concat(parts).toString('utf8', 0, maxBytes));
      };
      const onData = (bytes: Uint8Array) => {
        if (left <= 0) return;
        parts.push(bytes);
        left -= bytes.length;
        if (left > 0) return;
        onEnd();
        this.release();
      };
      this.read({ onData, onEnd });
    });
  }

  /** Discards the rest of the body, so that the connection can carry another request. */
  release(): void {
    this.resume();
    if (this.ending) return;
    const timer = setTimeout(() => this.close(), releaseTimeoutMs);
    this.read({ onData: () => {}, onEnd: () => clearTimeout(timer) });
  }

  /** The body in parts, for an SDK that translates it. A reply that is not read to its end is closed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    const parts: Uint8Array[] = [];
    let ended: { readonly error: Error | undefined } | undefined;
    let wake = () => {};
    this.read({
      onData: (bytes) => {
        parts.push(bytes);
        this.pause();
        wake();
      },
      onEnd: (error) => {
        ended ??= { error };
        wake();
      },
    });
    try {
      for (;;) {
        yield* parts.splice(0);
        if (ended?.error) throw ended.error;
        if (ended) return;
        const more = new Promise<void>((resolve) => (wake = resolve));
        this.resume();
        await more;
      }
    } finally {
      if (!ended) this.close();
    }
  }

  close(): void {
    this.controller.abort(new Error('The reply was closed.'));
    this.decoder?.destroy();
  }
}
