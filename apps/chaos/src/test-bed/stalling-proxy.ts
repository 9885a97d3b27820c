import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** A TCP proxy that can stall: data stops arriving while the connections stay open, as when packets are lost. */
export class StallingProxy {
  private readonly sockets = new Set<Socket>();
  private isStalled = false;

  private constructor(
    readonly url: string,
    private readonly server: ReturnType<typeof createServer>,
  ) {}

  /** Starts a proxy to the server at this URL; `url` is the server's URL with the proxy's host and port. */
  static async start(to: string): Promise<StallingProxy> {
    const target = new URL(to);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo; // a TCP server's address is an object
    const near = new URL(to);
    near.host = `127.0.0.1:${port}`;
    const proxy = new StallingProxy(near.href, server);
    server.on('connection', (socket) =>
      proxy.join(socket, connect({ host: target.hostname, port: Number(target.port) })),
    );
    return proxy;
  }

  stall(): void {
    this.isStalled = true;
    this.sockets.forEach((socket) => socket.pause());
  }

  /** Delivers what was sent meanwhile, as TCP retransmits lost packets. */
  resume(): void {
    this.isStalled = false;
    this.sockets.forEach((socket) => socket.resume());
  }

  async close(): Promise<void> {
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
