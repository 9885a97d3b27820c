import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Of a frame: which stream (1 is standard output, 2 is standard error), three zero bytes, and the length of what follows. */
const headerBytes = 8;
const standardOutput = 1;
const lastErrorBytes = 4_000;

/** The agent's end of an attached container: written to its standard input, read from its standard output. */
export class AttachedStreams extends Duplex {
  private header = Buffer.alloc(0);
  private remaining = 0;
  private isOutput = false;
  /** The end of what was written to standard error. */
  lastErrors = '';

  constructor(private readonly socket: Socket) {
    super();
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('error', (error) => this.destroy(error));
    socket.on('end', () => socket.end()); // The container has ended.
    socket.on('close', () => this.destroy());
  }

  override _write(chunk: Buffer, _encoding: string, callback: (error?: Error | null) => void): void {
    this.socket.write(chunk, callback);
  }

  override _final(callback: () => void): void {
    this.socket.end(callback);
  }

  override _read(): void {
    this.socket.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.socket.destroy();
    callback(error);
  }

  private receive(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) rest = this.remaining > 0 ? this.takeContent(rest) : this.takeHeader(rest);
  }

  private takeHeader(bytes: Buffer): Buffer {
    const missing = headerBytes - this.header.length;
    this.header = Buffer.concat([this.header, bytes.subarray(0, missing)]);
    if (this.header.length === headerBytes) {
      this.isOutput = this.header[0] === standardOutput;
      this.remaining = this.header.readUInt32BE(4);
      this.header = Buffer.alloc(0);
    }
    return bytes.subarray(missing);
  }

  private takeContent(bytes: Buffer): Buffer {
    const content = bytes.subarray(0, this.remaining);
    this.remaining -= content.length;
    if (!this.isOutput) this.lastErrors = (this.lastErrors + content.toString()).slice(-lastErrorBytes);
    else if (!this.push(content)) this.socket.pause();
    return bytes.subarray(content.length);
  }
}
