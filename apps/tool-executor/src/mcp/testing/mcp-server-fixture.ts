/* eslint-disable @typescript-eslint/no-deprecated -- the low-level server can say anything, and SSE is what is tested */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type Server as HttpServer, type ServerResponse, createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  isInitializeRequest,
} from '@modelcontextprotocol/sdk/types.js';
import {
  type InputRequiredResult,
  type McpHttpHandler,
  Server as ModernServer,
  createMcpHandler,
} from '@modelcontextprotocol/server';
import { passOn } from './pass-on';

export interface ServedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: object;
}

export interface CallOfTool {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly key: unknown;
  /** Aborted when the client cancels it. */
  readonly signal: AbortSignal;
  /** What people answered, and the server's own state: only of the newer generation. */
  readonly input?: { readonly responses: unknown; readonly state: unknown };
  readonly progress: (progress: number, message: string) => Promise<void>;
}

/** Resources, which it may describe in any way. */
export interface ServedResources {
  readonly list: (cursor: string | undefined) => object;
  readonly templates?: readonly object[];
  readonly read: (uri: string) => object;
}

/** Prompts, in any form. */
export interface ServedPrompts {
  readonly list: readonly unknown[];
  readonly get: (name: string, given: Readonly<Record<string, string>>) => object;
}

type ToolAnswer = CallToolResult | InputRequiredResult;

export const anyObject = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

/** A server of the official SDK over real HTTP: what it says of its tools can be changed while it runs. */
export class McpServerFixture {
  readonly calls: { name: string; arguments: Record<string, unknown>; key: unknown }[] = [];
  readonly headers: IncomingMessage['headers'][] = [];
  sessionsOpened = 0;
  /** What it answers in a session that it does not know. */
  unknownSession = { status: 404, reason: '' };
  private openStream: () => void = () => undefined;
  /** Resolves once a client listens to what the server says unasked. */
  readonly streamOpened = new Promise<void>((resolve) => (this.openStream = resolve));
  tools: readonly ServedTool[] = [{ name: 'echo', description: 'Repeats a text.', inputSchema: anyObject }];
  answer: (call: CallOfTool) => ToolAnswer | Promise<ToolAnswer> = ({ arguments: { text } }) => ({
    content: [{ type: 'text', text: `echo: ${String(text)}` }],
  });
  hasTools = true;
  /** Absent: it offers none. */
  resources: ServedResources | undefined;
  /** Absent: it offers none. */
  prompts: ServedPrompts | undefined;
  private readonly servers: Server[] = [];
  private modern: McpHttpHandler | undefined;
  private readonly sessions = new Map<string, StreamableHTTPServerTransport | SSEServerTransport>();

  private constructor(
    private readonly http: HttpServer,
    readonly port: number,
  ) {}

  /** `2026`: it speaks only the newer generation, with the package that is published for it. */
  static async open(generation: '2025' | '2026' = '2025'): Promise<McpServerFixture> {
    const http = createServer((request, response) => void fixture.serve(request, response));
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const fixture = new McpServerFixture(http, (http.address() as { port: number }).port); // it listens on TCP
    if (generation === '2026') fixture.modern = createMcpHandler(() => fixture.newModernServer(), { legacy: 'reject' });
    return fixture;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  get sseUrl(): string {
    return `http://127.0.0.1:${this.port}/sse`;
  }

  /** Tells its clients. */
  async changeTools(tools: readonly ServedTool[]): Promise<void> {
    this.tools = tools;
    this.modern?.notify.toolsChanged();
    await Promise.all(this.servers.map((server) => server.sendToolListChanged()));
  }

  /** As a server that was started again: it knows no session of before. */
  forgetSessions(): void {
    this.sessions.clear();
  }

  /** As if its process was killed: connections end in the middle. */
  async die(): Promise<void> {
    this.http.closeAllConnections();
    await this.close();
  }

  async close(): Promise<void> {
    if (!this.http.listening) return;
    await this.modern?.close();
    this.http.close();
    this.http.closeAllConnections();
    await once(this.http, 'close');
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.headers.push(request.headers);
    if (this.modern) {
      if (request.headers['mcp-method'] === 'subscriptions/listen') this.openStream();
      return passOn(request, response, this.modern.fetch);
    }
    const url = new URL(request.url ?? '', 'http://any');
    if (url.pathname === '/sse') return this.openSse(response);
    const body = request.method === 'POST' ? await json(request) : undefined;
    const id = String(request.headers['mcp-session-id'] ?? url.searchParams.get('sessionId'));
    const known = this.sessions.get(id);
    if (known instanceof SSEServerTransport) return known.handlePostMessage(request, response, body);
    if (request.method === 'GET') this.openStream();
    if (known) return known.handleRequest(request, response, body);
    if (!isInitializeRequest(body))
      return void response.writeHead(this.unknownSession.status).end(this.unknownSession.reason);
    return this.openSession(request, response, body);
  }

  private async openSession(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    this.sessionsOpened += 1;
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.sessions.set(id, transport),
    });
    await this.newServer().connect(transport);
    await transport.handleRequest(request, response, body);
  }

  private async openSse(response: ServerResponse): Promise<void> {
    this.sessionsOpened += 1;
    const transport = new SSEServerTransport('/messages', response);
    this.sessions.set(transport.sessionId, transport);
    await this.newServer().connect(transport);
  }

  private get capabilities() {
    return {
      ...(this.hasTools && { tools: { listChanged: true } }),
      ...(this.resources && { resources: {} }),
      ...(this.prompts && { prompts: {} }),
    };
  }

  private newModernServer(): ModernServer {
    const { resources, prompts } = this;
    const server = new ModernServer({ name: 'fixture', version: '1' }, { capabilities: this.capabilities });
    if (resources) {
      server.setRequestHandler('resources/list', ({ params }) => resources.list(params?.cursor) as never); // any form
      const templates = { resourceTemplates: resources.templates ?? [] };
      server.setRequestHandler('resources/templates/list', () => templates as never);
      server.setRequestHandler('resources/read', ({ params }) => resources.read(params.uri) as never);
    }
    if (prompts) {
      server.setRequestHandler('prompts/list', () => ({ prompts: [...prompts.list] as never[] })); // any form
      server.setRequestHandler(
        'prompts/get',
        ({ params }) => prompts.get(params.name, params.arguments ?? {}) as never,
      );
    }
    if (!this.hasTools) return server;
    server.setRequestHandler('tools/list', () => ({ tools: this.tools as never })); // it may say anything
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const { name, arguments: given = {} } = params;
      const call = { name, arguments: given, key: mcpReq._meta?.['idempotency-key'] };
      this.calls.push(call);
      const token = mcpReq._meta?.progressToken;
      const progress = async (done: number, message: string) => {
        if (token === undefined) return;
        const about = { progressToken: token, progress: done, total: 2, message };
        await mcpReq.notify({ method: 'notifications/progress', params: about });
      };
      return await this.answer({
        ...call,
        input: { responses: mcpReq.inputResponses, state: mcpReq.requestState() },
        signal: mcpReq.signal,
        progress,
      }); // results of both packages have one form
    });
    return server;
  }

  private newServer(): Server {
    const { resources, prompts } = this;
    const server = new Server({ name: 'fixture', version: '1' }, { capabilities: this.capabilities });
    this.servers.push(server);
    if (resources) {
      server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => resources.list(params?.cursor) as never); // any form
      const templates = { resourceTemplates: resources.templates ?? [] };
      server.setRequestHandler(ListResourceTemplatesRequestSchema, () => templates as never);
      server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => resources.read(params.uri) as never);
    }
    if (prompts) {
      server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: [...prompts.list] as never[] })); // any form
      server.setRequestHandler(
        GetPromptRequestSchema,
        ({ params }) => prompts.get(params.name, params.arguments ?? {}) as never,
      );
    }
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: this.tools }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
      const { name, arguments: given = {}, _meta: meta } = params;
      const call = { name, arguments: given, key: meta?.['idempotency-key'] };
      this.calls.push(call);
      const token = meta?.progressToken;
      const progress = async (done: number, message: string) => {
        if (token === undefined) return;
        const about = { progressToken: token, progress: done, total: 2, message };
        await sendNotification({ method: 'notifications/progress', params: about });
      };
      return await this.answer({ ...call, signal, progress }); // in the older generation no result asks
    });
    return server;
  }
}
