import { Duplex } from 'node:stream';
import { SandboxError } from '../../provider/sandbox-error';
import type { StreamEvent } from './agent-messages';

/** The agent sends at most this much, and one read of a socket more, before it is consumed here. */
const windowBytes = 256 * 1024;
const windowSlackBytes = 128 * 1024;
const pieceBytes = 256 * 1024;
const maximumStreams = 64;

type StreamCall = 'stream.open' | 'stream.write' | 'stream.consumed' | 'stream.end' | 'stream.close';
type AskAgent = (call: StreamCall, parameters: object) => Promise<unknown>;

/** The streams of one agent. Each is known here until the agent has reported its end, also after its reader has left. */
export class AgentStreams {
  private readonly streams = new Map<number, AgentStream>();
  private last = 0;

  constructor(private readonly ask: AskAgent) {}

  /** `onWrite` is called whenever something is written to the stream. */
  async open(port: number, onWrite: () => void): Promise<Duplex> {
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new SandboxError('invalid_request', `${port} is not a port.`);
    }
    if (this.streams.size >= maximumStreams) {
      throw new SandboxError('failed', `The sandbox has ${maximumStreams} open connections. Close some.`);
    }
    const number = (this.last += 1);
    const stream = new AgentStream((call, parameters) => {
      if (call === 'stream.write') onWrite();
      return this.ask(call, { stream: number, ...parameters });
    });
    stream.on('error', () => undefined); // A caller that has no listener sees the stream close.
    this.streams.set(number, stream);
    try {
      await this.ask('stream.open', { stream: number, port });
      return stream;
    } catch (error) {
      this.streams.delete(number);
      throw error;
    }
  }

  /** Throws on what the original agent would not report. */
  report(event: StreamEvent): void {
    const stream = this.streams.get(event.stream);
    if (!stream) throw new Error('a report on a stream that is not open');
    if (event.event === 'stream.closed') this.streams.delete(event.stream);
    stream.report(event);
  }

  /** The sandbox is gone. */
  lose(): void {
    for (const stream of this.streams.values()) stream.lose();
    this.streams.clear();
  }
}

/** One write at a time is under way, so at most that and the buffer of the stream wait for a slow server. */
class AgentStream extends Duplex {
  private drained: (() => void) | undefined;
  private unconsumed = 0;
  private unreported = 0;
  private isOver = false;

  constructor(private readonly ask: (call: StreamCall, parameters?: object) => Promise<unknown>) {
    super({ allowHalfOpen: true });
  }

  report(event: StreamEvent): void {
    switch (event.event) {
      case 'stream.data':
        this.receive(Buffer.from(event.data, 'base64'));
        break;
      case 'stream.drained':
        this.drain();
        break;
      case 'stream.ended':
        if (!this.destroyed) this.push(null);
        break;
      case 'stream.closed':
        this.close(event.failure);
        break;
    }
  }

  lose(): void {
    this.isOver = true;
    this.destroy(new SandboxError('lost', 'The sandbox stopped.'));
  }

  override _write(chunk: Buffer, _encoding: string, callback: (error?: Error) => void): void {
    this.transfer(chunk).then(() => callback(), callback);
  }

  override _writev(chunks: { chunk: Buffer }[], callback: (error?: Error) => void): void {
    this.transfer(Buffer.concat(chunks.map(({ chunk }) => chunk))).then(() => callback(), callback);
  }

  override _final(callback: (error?: Error) => void): void {
    this.ask('stream.end').then(() => callback(), callback);
  }

  override _read(): void {
    const bytes = this.unreported;
    this.unreported = 0;
    if (bytes > 0) this.consume(bytes);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.drain();
    if (!this.isOver) this.ask('stream.close').catch(() => undefined); // A lost sandbox has closed it.
    callback(error);
  }

  private async transfer(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length && !this.isOver; at += pieceBytes) {
      const drained = new Promise<void>((resolve) => (this.drained = resolve));
      await this.ask('stream.write', { data: bytes.subarray(at, at + pieceBytes).toString('base64') });
      await drained;
    }
    if (this.isOver) throw new SandboxError('failed', 'The server has closed the connection.');
  }

  /** What has arrived can still be read, unless the connection was broken. */
  private close(failure: string | undefined): void {
    this.isOver = true;
    this.drain();
    if (failure !== undefined) this.destroy(new Error(failure));
    else if (this.readableEnded) this.destroy();
    else this.once('end', () => this.destroy());
  }

  private drain(): void {
    this.drained?.();
    this.drained = undefined;
  }

  private receive(bytes: Buffer): void {
    this.unconsumed += bytes.length;
    if (this.unconsumed > windowBytes + windowSlackBytes) throw new Error('more bytes than the window of a stream');
    if (this.destroyed) return;
    if (this.push(bytes)) this.consume(bytes.length);
    else this.unreported += bytes.length;
  }

  private consume(bytes: number): void {
    this.unconsumed -= bytes;
    this.ask('stream.consumed', { bytes }).catch(() => undefined); // A lost sandbox sends nothing more.
  }
}
