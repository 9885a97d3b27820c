import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

/** Forwards TCP connections, and cuts each one after a number of bytes from the server that differs for each. */
export class CuttingProxy {
  cuts = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(target: string, countBytes: (connection: number) => number): Promise<CuttingProxy> {
    const { hostname, port } = new URL(target);
    let connections = 0;
    const server = createServer((client) => {
      const upstream = connect(Number(port), hostname);
      let left = countBytes(connections++);
      for (const socket of [client, upstream]) {
        proxy.sockets.add(socket);
        socket.on('error', () => undefined); // a cut on one side is an error on the other
        socket.on('close', () => [client, upstream].forEach((each) => each.destroy()));
      }
      client.pipe(upstream);
      upstream.on('data', (bytes) => {
        client.write(bytes.subarray(0, left));
        left -= bytes.length;
        if (left > 0) return;
        proxy.cuts++;
        client.destroySoon();
        upstream.destroy();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address() as AddressInfo; // it listens on a port
    const proxy = new CuttingProxy(server, `http://127.0.0.1:${address.port}`);
    return proxy;
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}
