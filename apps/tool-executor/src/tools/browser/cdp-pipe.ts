import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';

const end = 0;

/** Messages over a stream, each followed by a zero byte, as Chromium's `--remote-debugging-pipe` speaks. */
export class CdpPipe extends EventEmitter<{ message: [Buffer]; close: []; error: [Error] }> {
  private parts: Buffer[] = [];
  private length = 0;

  constructor(
    private readonly stream: Duplex,
    private readonly largestMessage: number,
  ) {
    super();
    stream.on('data', (bytes: Buffer) => this.receive(bytes));
    stream.once('end', () => this.terminate());
    stream.once('close', () => this.emit('close'));
    stream.on('error', () => undefined); // It is closed next.
  }

  send(text: string): void {
    this.stream.write(`${text}\0`);
  }

  terminate(): void {
    this.stream.destroy();
  }

  private receive(bytes: Buffer): void {
    let from = 0;
    for (let at = bytes.indexOf(end); at >= 0; at = bytes.indexOf(end, from)) {
      this.keep(bytes.subarray(from, at));
      const message = Buffer.concat(this.parts);
      this.parts = [];
      this.length = 0;
      from = at + 1;
      if (!this.stream.destroyed) this.emit('message', message);
    }
    this.keep(bytes.subarray(from));
  }

  private keep(bytes: Buffer): void {
    this.length += bytes.length;
    if (this.length > this.largestMessage) this.terminate();
    else if (bytes.length > 0) this.parts.push(bytes);
  }
}
