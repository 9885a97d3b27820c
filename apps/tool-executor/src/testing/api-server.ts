import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { text } from 'node:stream/consumers';

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** Parsed JSON, or undefined without a body. */
  readonly body: unknown;
}

/** A server that speaks a service's API over HTTP: it records requests and answers by a function. */
export class ApiServer {
  readonly received: ApiRequest[] = [];

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async open(answer: (request: ApiRequest, response: ServerResponse) => void): Promise<ApiServer> {
    const server = createServer((request, response) => void receive(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const api = new ApiServer(server, (server.address() as { port: number }).port); // It listens on TCP.

    async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const { pathname: path, searchParams: query } = new URL(request.url ?? '', 'http://any');
      const body = await text(request);
      const parsed: unknown = body === '' ? undefined : JSON.parse(body);
      const received = { method: request.method ?? '', path, query, headers: request.headers, body: parsed };
      api.received.push(received);
      answer(received, response);
    }
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}

export const json = (response: ServerResponse, value: unknown, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
