import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/** A proxy that connects every caller to one server, whatever it asks for. */
export class ConnectingProxy {
  /** What it was asked to connect to, as `host:port`. */
  readonly asked: string[] = [];

  private constructor(private readonly server: Server) {}

  static async start(target: string): Promise<ConnectingProxy> {
    const server = createServer();
    const proxy = new ConnectingProxy(server);
    server.on('connect', (request, client) => {
      proxy.asked.push(request.url ?? '');
      const end = connect(Number(new URL(target).port), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        end.pipe(client).pipe(end);
      });
      for (const one of [end, client]) one.on('error', () => one.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
