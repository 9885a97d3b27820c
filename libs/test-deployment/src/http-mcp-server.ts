import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import { McpServer, createMcpHandler, inputRequired } from '@modelcontextprotocol/server';

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

/** Serves a server of the official package over real HTTP, in the protocol of 2026-07-28 alone. */
export class HttpMcpServer extends LoopbackServer {
  private readonly handler = createMcpHandler(() => this.newServer(), { legacy: 'reject' });

  private constructor(private readonly newServer: () => McpServer) {
    super();
  }

  static open(newServer: () => McpServer, port = 0): Promise<HttpMcpServer> {
    return new HttpMcpServer(newServer).listen(port);
  }

  override async close(): Promise<void> {
    await this.handler.close();
    await super.close();
  }

  protected override async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]);
    const method = request.method ?? 'GET';
    const body = method === 'POST' ? await text(request) : undefined;
    const web = new Request(this.url, { method, headers, ...(body !== undefined && { body }) });
    const answer = await this.handler.fetch(web);
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  }
}

/** A server whose tool asks a person for the reason before it does anything. */
export class RefundServer {
  private constructor(
    private readonly served: HttpMcpServer,
    readonly refunded: readonly unknown[],
  ) {}

  static async open(port: number): Promise<RefundServer> {
    const refunded: unknown[] = [];
    return new RefundServer(await HttpMcpServer.open(() => refundServer(refunded), port), refunded);
  }

  get url(): string {
    return this.served.url;
  }

  close(): Promise<void> {
    return this.served.close();
  }
}

function refundServer(refunded: unknown[]): McpServer {
  const server = new McpServer({ name: 'refunds', version: '1' });
  server.registerTool('refund', { description: 'Refunds an order.' }, ({ mcpReq }) => {
    const state = mcpReq.requestState();
    if (mcpReq.inputResponses === undefined || state !== 'order 7') {
      const requestedSchema = {
        type: 'object' as const,
        properties: { reason: { type: 'string' as const, maxLength: 20 } },
        required: ['reason'],
      };
      const reason = inputRequired.elicit({ message: 'Why is it refunded?', requestedSchema });
      return inputRequired({ inputRequests: { reason }, requestState: 'order 7' });
    }
    refunded.push(mcpReq.inputResponses['reason']);
    return { content: [{ type: 'text', text: `${state} is refunded` }] };
  });
  return server;
}
