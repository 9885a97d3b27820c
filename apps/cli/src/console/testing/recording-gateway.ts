import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const sayOk: Answer = (_, response) => response.end('ok');

/** A server in the place of a gateway, which keeps what it was asked. */
export class RecordingGateway {
  readonly requests: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, unknown>>;
  }[] = [];
  answer: Answer = sayOk;

  private constructor(
    private readonly server: Server,
    readonly url: URL,
  ) {}

  static async start(at = 0): Promise<RecordingGateway> {
    const server = createServer();
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // it listens on a port
    const gateway = new RecordingGateway(server, new URL(`http://127.0.0.1:${port}/`));
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      gateway.keep(request);
      gateway.answer(request, response);
    });
    server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
      gateway.keep(request);
      socket.on('error', () => socket.destroy());
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Of: gateway\r\n\r\n',
      );
      socket.pipe(socket); // an echo
    });
    return gateway;
  }

  get last() {
    return this.requests.at(-1);
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private keep({ method = '', url = '', headers }: IncomingMessage): void {
    this.requests.push({ method, url, headers });
  }
}
