import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { text } from 'node:stream/consumers';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The local address of the connection. */
  readonly at: string | undefined;
}

/** An HTTP server that records what reached it, and answers by path. */
export class EffectServer {
  readonly received: ReceivedRequest[] = [];

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async open(routes: Record<string, (response: ServerResponse) => void> = {}): Promise<EffectServer> {
    const server = createServer((request, response) => void receive(request, response));
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as { port: number }; // It listens on TCP.
    const effects = new EffectServer(server, port);

    async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const body = await text(request);
      const { method = '', url: path = '', headers, socket } = request;
      effects.received.push({ method, path, headers, body, at: socket.localAddress });
      const route = routes[path];
      if (route) route(response);
      else response.end(`${method} ${path} ${body}`);
    }
    return effects;
  }

  url(path = '/', host = '127.0.0.1'): string {
    return `http://${host}:${this.port}${path}`;
  }

  get internal(): string {
    return `127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}
