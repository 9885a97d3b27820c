import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';

/** A server over real HTTP on 127.0.0.1. */
export abstract class LoopbackServer {
  private readonly http = createServer((request, response) => void this.serve(request, response));

  protected abstract serve(request: IncomingMessage, response: ServerResponse): Promise<unknown>;

  async listen(port: number): Promise<this> {
    await once(this.http.listen(port, '127.0.0.1'), 'listening');
    return this;
  }

  get port(): number {
    return (this.http.address() as { port: number }).port; // it listens on TCP
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  async close(): Promise<void> {
    this.http.close();
    this.http.closeAllConnections();
    await once(this.http, 'close');
  }
}
