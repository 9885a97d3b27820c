import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

/** What a client has asked of a NATS server: a subscription with a queue group is written as `subject group`. */
export interface Spoken {
  readonly publish: Set<string>;
  readonly subscribe: Set<string>;
}

/** A proxy to a NATS server that records the subjects of one client, as its server sees and checks them. */
export class ProtocolRecorder {
  readonly spoken: Spoken = { publish: new Set(), subscribe: new Set() };
  private readonly sockets = new Set<Socket>();
  private readonly proxy: Server;

  private constructor(private readonly server: URL) {
    this.proxy = createServer((near) => {
      const far = connect(Number(server.port), server.hostname);
      const read = createProtocolReader((verb, subject) => this.spoken[verb].add(subject));
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('error', () => undefined);
      }
      near.on('data', read).pipe(far);
      far.pipe(near);
    });
  }

  static async start(server: string): Promise<ProtocolRecorder> {
    const recorder = new ProtocolRecorder(new URL(server));
    await new Promise<void>((resolve) => recorder.proxy.listen(0, '127.0.0.1', resolve));
    return recorder;
  }

  /** The server's URL through this proxy, with the same user and password. */
  get url(): string {
    const { port } = this.proxy.address() as AddressInfo; // only the address of a pipe is a string
    return Object.assign(new URL(this.server), { host: `127.0.0.1:${port}` }).href;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.proxy.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}

/** Reads `PUB subject [reply] bytes`, `HPUB subject [reply] bytes bytes` and `SUB subject [group] id`, and skips payloads. */
function createProtocolReader(note: (verb: keyof Spoken, subject: string) => void): (data: Buffer) => void {
  let rest = Buffer.alloc(0);
  let skipped = 0;
  const readLine = (line: string) => {
    const [verb = '', subject = '', ...others] = line.trim().split(/\s+/);
    if (/^H?PUB$/i.test(verb)) {
      note('publish', subject);
      skipped = Number(others.at(-1)) + '\r\n'.length;
    } else if (/^SUB$/i.test(verb)) {
      note('subscribe', [subject, ...others.slice(0, -1)].join(' '));
    }
  };
  return (data) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      if (rest.length < skipped) return;
      rest = rest.subarray(skipped);
      skipped = 0;
      const end = rest.indexOf('\r\n');
      if (end < 0) return;
      const line = rest.toString('latin1', 0, end);
      rest = rest.subarray(end + '\r\n'.length);
      readLine(line);
    }
  };
}
