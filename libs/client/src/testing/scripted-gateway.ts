import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** An HTTP server that answers as a test says, and keeps the requests. */
export class ScriptedGateway {
  readonly requests: { readonly method: string; readonly url: string; readonly headers: IncomingMessage['headers'] }[] =
    [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(answer: Answer): Promise<ScriptedGateway> {
    const server = createServer((request, response) => {
      const { method = '', url = '', headers } = request;
      gateway.requests.push({ method, url, headers });
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => answer(request, response, body));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // it listens on a port
    const gateway = new ScriptedGateway(server, `http://127.0.0.1:${port}`);
    return gateway;
  }

  get options() {
    return { baseUrl: this.url, apiKey: 'rondo_key' };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
