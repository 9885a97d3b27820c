import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers every request with one image, but `/redirect?to=…` with a redirect. */
export class ImageServer {
  connections = 0;
  private readonly paths: string[] = [];

  private constructor(private readonly server: Server) {
    server.on('connection', () => (this.connections += 1));
  }

  /** On any port, unless given. */
  static async open(image: Buffer, port = 0): Promise<ImageServer> {
    const server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://any');
      opened.paths.push(pathname);
      const location = searchParams.get('to');
      if (location === null) response.end(image);
      else response.writeHead(302, { location }).end();
    });
    const opened = new ImageServer(server);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return opened;
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`; // It listens on TCP.
  }

  requestsFor(path: string): number {
    return this.paths.filter((one) => one === path).length;
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }
}
