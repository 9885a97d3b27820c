import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/**
 * A proxy that does nothing but CONNECT, to servers of this machine that have other names outside. Other requests get 405, other
 * hosts 403.
 */
export class ConnectProxy {
  /** What it was asked to connect to, as `host:port`, in order. */
  readonly asked: string[] = [];
  /** The credentials of these requests. */
  readonly credentials: (string | undefined)[] = [];
  /** Requests that were not CONNECT. */
  readonly refused: string[] = [];

  private constructor(private readonly server: Server) {}

  /** `ports` gives the port on this machine of a `host:port` outside; a function decides about every host. */
  static async start(
    ports: Readonly<Record<string, number>> | ((authority: string) => number | undefined),
  ): Promise<ConnectProxy> {
    const findPort = typeof ports === 'function' ? ports : (authority: string) => ports[authority];
    const server = createServer();
    const proxy = new ConnectProxy(server);
    server.on('request', (request, response) => {
      proxy.refused.push(`${request.method ?? ''} ${request.url ?? ''}`);
      response.writeHead(405).end();
    });
    server.on('connect', (request, client) => {
      const { url: authority = '', headers } = request;
      proxy.asked.push(authority);
      proxy.credentials.push(headers['proxy-authorization']);
      client.on('error', () => client.destroy());
      const port = findPort(authority);
      if (port === undefined) {
        client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
        return;
      }
      const end = connect(port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        end.pipe(client).pipe(end);
      });
      end.on('error', () => client.destroy());
      client.on('close', () => end.destroy());
      end.on('close', () => client.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`; // It listens on TCP.
  }

  /** Connections that it has made end with those who use them. */
  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
