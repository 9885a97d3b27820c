import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { LoopbackServer } from '@rondo/test-deployment';

/** A server of tickets, of the official SDK, over real HTTP. */
export class TicketServer extends LoopbackServer {
  readonly created: { title: string; key: unknown }[] = [];
  readonly authorizations = new Set<string | undefined>();
  description = 'Creates a ticket.';
  private readonly sessions = new Map<string, StreamableHTTPServerTransport>();

  static open(port: number): Promise<TicketServer> {
    return new TicketServer().listen(port);
  }

  get sessionsOpened(): number {
    return this.sessions.size;
  }

  protected override async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
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
