import { Duplex } from 'node:stream';
import { z } from 'zod';

/**
 * One message of a tunnel: a byte for its kind, four for its number in its direction, then the payload. Core NATS drops
 * what is published while a connection is away, and the numbers show it.
 */
interface TunnelFrame {
  readonly kind: FrameKind;
  readonly number: number;
  readonly payload: Uint8Array;
}

/**
 * `data` · `credit`: so many more bytes may be sent (four bytes) · `end`: no more data follows · `reset`: the tunnel failed
 * (JSON: code, message) · `alive`: nothing to say.
 */
export type FrameKind = (typeof kinds)[number];

const kinds = ['data', 'credit', 'end', 'reset', 'alive'] as const;
const headBytes = 5;

export function encodeTunnelFrame({ kind, number, payload }: TunnelFrame): Uint8Array {
  const frame = Buffer.allocUnsafe(headBytes + payload.length);
  frame.writeUInt8(kinds.indexOf(kind), 0);
  frame.writeUInt32BE(number >>> 0, 1); // wraps after 2^32 frames, as the receiver's count does
  frame.set(payload, headBytes);
  return frame;
}

/** Undefined for bytes that are no frame. */
export function decodeTunnelFrame(bytes: Uint8Array): TunnelFrame | undefined {
  if (bytes.length < headBytes) return undefined;
  const frame = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = kinds[frame.readUInt8(0)];
  return kind && { kind, number: frame.readUInt32BE(1), payload: frame.subarray(headBytes) };
}

/** `code` is a word of the side that failed; `tunnel_lost` is ours: frames were lost, or the other side is silent. */
export class TunnelError extends Error {
  override readonly name = 'TunnelError';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Where the frames of one tunnel go. */
interface TunnelWire {
  send(frame: Uint8Array): void;
  /** Called once, when the tunnel is over in both directions or has failed. */
  close(): void;
}

interface TunnelTiming {
  /** How often a side that has nothing to send says that it is alive. */
  readonly aliveMs: number;
  /** A side that has sent nothing for so long counts as gone. */
  readonly silentMs: number;
}

const usualTiming: TunnelTiming = { aliveMs: 10_000, silentMs: 30_000 };

/** Bytes that one side may send before the other has read them. */
const windowBytes = 1024 * 1024;
/** Far below what a NATS server takes in a message, so that tunnels and events share a connection fairly. */
const frameBytes = 64 * 1024;
const nothing = new Uint8Array(0);
const failure = z.object({ code: z.string().max(100), message: z.string().max(2_000) });

interface BlockedWrite {
  readonly rest: Buffer;
  readonly done: (error?: Error | null) => void;
}

/**
 * One end of a byte stream over NATS, for what does not fit into a message: files, and connections to ports in a sandbox.
 * Like a TCP socket it is full-duplex, each direction ends by itself, and a slow reader slows the writer down. Unlike
 * one it carries the other side's reason when it fails.
 */
export class Tunnel extends Duplex {
  private sentFrames = 0;
  private receivedFrames = 0;
  private credit = windowBytes;
  /** Received and not yet credited, since the reader has not taken it. */
  private unread = 0;
  private blocked: BlockedWrite | undefined;
  private heardAt = performance.now();
  private hasFailedThere = false;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly wire: TunnelWire,
    timing = usualTiming,
  ) {
    super({ readableHighWaterMark: windowBytes / 4, writableHighWaterMark: frameBytes });
    this.timer = setInterval(() => this.checkSilence(timing.silentMs), timing.aliveMs).unref();
  }

  /** A message of the other end. */
  receive(bytes: Uint8Array): void {
    if (this.destroyed) return;
    this.heardAt = performance.now();
    const frame = decodeTunnelFrame(bytes);
    if (!frame || frame.number !== this.receivedFrames >>> 0) {
      this.destroy(new TunnelError('tunnel_lost', 'A part of the data was lost on its way.'));
      return;
    }
    this.receivedFrames += 1;
    this.handle(frame.kind, frame.payload);
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: BlockedWrite['done']): void {
    let rest = chunk;
    while (rest.length > 0 && this.credit > 0) {
      const part = rest.subarray(0, Math.min(frameBytes, this.credit));
      this.credit -= part.length;
      this.send('data', part);
      rest = rest.subarray(part.length);
    }
    if (rest.length === 0) done();
    else this.blocked = { rest, done };
  }

  override _final(done: (error?: Error | null) => void): void {
    this.send('end');
    done();
  }

  /** Everything that Node takes out of the buffer goes through here; `_read` is called before it is taken, and not every time. */
  override read(size?: number): unknown {
    const taken: unknown = super.read(size);
    this.giveCredit();
    return taken;
  }

  override _read(): void {
    // The other end sends by itself, as far as it has credit.
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearInterval(this.timer);
    const isOver = this.readableEnded && this.writableFinished;
    if (!isOver && !this.hasFailedThere) this.send('reset', toReason(error));
    this.wire.close();
    done(error);
  }

  private handle(kind: FrameKind, payload: Uint8Array): void {
    switch (kind) {
      case 'data':
        this.unread += payload.length;
        if (this.unread > windowBytes) this.destroy(new TunnelError('tunnel_lost', 'The other side sent too much.'));
        else {
          this.push(payload);
          this.giveCredit();
        }
        return;
      case 'credit':
        this.credit += toCredit(payload);
        this.writeOn();
        return;
      case 'end':
        this.push(null);
        return;
      case 'reset':
        this.hasFailedThere = true;
        this.destroy(toFailure(payload));
        return;
      case 'alive':
        return;
    }
  }

  private writeOn(): void {
    const { blocked } = this;
    this.blocked = undefined;
    if (blocked) this._write(blocked.rest, 'utf8', blocked.done);
  }

  /** Gives credit once the reader has taken a quarter of the window, so that few messages do it. */
  private giveCredit(): void {
    const read = this.unread - this.readableLength;
    if (read < windowBytes / 4) return;
    this.unread -= read;
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(read);
    this.send('credit', payload);
  }

  private send(kind: FrameKind, payload: Uint8Array = nothing): void {
    this.wire.send(encodeTunnelFrame({ kind, number: this.sentFrames, payload }));
    this.sentFrames += 1;
  }

  private checkSilence(silentMs: number): void {
    if (performance.now() - this.heardAt > silentMs) {
      this.destroy(new TunnelError('tunnel_lost', 'The other side does not answer any more.'));
    } else this.send('alive');
  }
}

const toCredit = (payload: Uint8Array): number =>
  payload.length === 4 ? Buffer.from(payload.buffer, payload.byteOffset, 4).readUInt32BE() : 0;

function toReason(error: Error | null): Uint8Array {
  const reason =
    error instanceof TunnelError
      ? { code: error.code, message: error.message.slice(0, 2_000) }
      : { code: 'aborted', message: 'The other side ended the transfer.' };
  return Buffer.from(JSON.stringify(reason));
}

function toFailure(payload: Uint8Array): TunnelError {
  try {
    const { code, message } = failure.parse(JSON.parse(Buffer.from(payload).toString()));
    return new TunnelError(code, message);
  } catch {
    return new TunnelError('tunnel_lost', 'The other side failed without a reason.'); // hostile or of another version
  }
}
