import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { McpServer, createMcpHandler, inputRequired } from '@modelcontextprotocol/server';
import { LoopbackServer } from './loopback-server';

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
