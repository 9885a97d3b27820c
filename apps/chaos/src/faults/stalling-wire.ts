import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** A wire to a server on which, when it stalls, nothing arrives any more, and nobody is told: no reset, no end. */
export class StallingWire {
  private readonly sockets = new Set<Socket>();
  private isStalled = false;

  private constructor(
    readonly url: string,
    private readonly server: ReturnType<typeof createServer>,
  ) {}

  /** Lays the wire to the server at this URL; `url` is the same server at this end of it. */
  static async lay(to: string): Promise<StallingWire> {
    const target = new URL(to);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo; // a TCP server's address is no string
    const near = new URL(to);
    near.host = `127.0.0.1:${port}`;
    const wire = new StallingWire(near.href, server);
    server.on('connection', (socket) =>
      wire.join(socket, connect({ host: target.hostname, port: Number(target.port) })),
    );
    return wire;
  }

  stall(): void {
    this.isStalled = true;
    this.sockets.forEach((socket) => socket.pause());
  }

  /** What was sent meanwhile arrives now, as TCP sends again what was lost. */
  resume(): void {
    this.isStalled = false;
    this.sockets.forEach((socket) => socket.resume());
  }

  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.sockets.forEach((socket) => socket.destroy());
    await closed;
  }

  private join(near: Socket, far: Socket): void {
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      from.on('data', (data) => to.write(data));
      if (this.isStalled) from.pause();
    }
  }
}
