import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

/** A server of tickets, of the official SDK, over real HTTP. */
export class TicketServer {
  readonly created: { title: string; key: unknown }[] = [];
  readonly authorizations = new Set<string | undefined>();
  description = 'Creates a ticket.';
  private readonly sessions = new Map<string, StreamableHTTPServerTransport>();

  private constructor(
    private readonly http: Server,
    readonly port: number,
  ) {}

  static async open(): Promise<TicketServer> {
    const http = createServer((request, response) => void server.serve(request, response));
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const server = new TicketServer(http, (http.address() as { port: number }).port); // it listens on TCP
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  get sessionsOpened(): number {
    return this.sessions.size;
  }

  async close(): Promise<void> {
    this.http.close();
    this.http.closeAllConnections();
    await once(this.http, 'close');
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.authorizations.add(request.headers.authorization);
    const body = request.method === 'POST' ? await json(request) : undefined;
    const known = this.sessions.get(String(request.headers['mcp-session-id']));
    if (known) return known.handleRequest(request, response, body);
    if (!isInitializeRequest(body)) return void response.writeHead(404).end();
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.sessions.set(id, transport),
    });
    await this.newServer().connect(transport);
    await transport.handleRequest(request, response, body);
  }

  private newServer(): McpServer {
    const server = new McpServer({ name: 'tickets', version: '1' });
    const inputSchema = { title: z.string() };
    server.registerTool('create', { description: this.description, inputSchema }, ({ title }, { _meta: meta }) => {
      this.created.push({ title, key: meta?.['idempotency-key'] });
      return { content: [{ type: 'text', text: `ticket ${this.created.length}: ${title}` }] };
    });
    return server;
  }
}
