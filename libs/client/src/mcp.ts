import type { DiscoveredMcpServer, ForgottenMcpTools, McpDiscoveryRequest, McpTool } from './generated/api.ts';
import { itemsOf } from './pages.ts';
import type { Options } from './runs.ts';
import type { Transport } from './transport.ts';

/** Servers of the Model Context Protocol, and what the account's runs have seen of them. */
export class Mcp {
  constructor(private readonly transport: Transport) {}

  /** Which tools a server has, before a run or an agent names it. One that cannot be used is an answer, too. */
  discover(server: McpDiscoveryRequest['server'], { signal }: Options = {}): Promise<DiscoveredMcpServer> {
    return this.transport.json({ method: 'POST', path: '/v1/mcp-servers/discover', json: { server }, signal });
  }

  /** Newest first. `changed`: only those that await a confirmation. */
  tools(query: { readonly state?: 'all' | 'changed'; readonly limit?: number } = {}): AsyncGenerator<McpTool, void> {
    return itemsOf(this.transport, '/v1/mcp-tools', query);
  }

  /** Accepts a changed tool. Refused if its server has changed it again since its definition had this fingerprint. */
  confirm(id: string, fingerprint: string, { signal }: Options = {}): Promise<McpTool> {
    return this.transport.json({ method: 'POST', path: `${pathOf(id)}/confirm`, json: { fingerprint }, signal });
  }

  /** The next run that sees the tool accepts what its server says then. */
  async forget(id: string, { signal }: Options = {}): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: pathOf(id), signal });
  }

  /** The same for all tools of a server, by the name that runs give it. */
  forgetServer(server: string, { signal }: Options = {}): Promise<ForgottenMcpTools> {
    return this.transport.json({ method: 'DELETE', path: '/v1/mcp-tools', query: { server }, signal });
  }
}

const pathOf = (id: string): string => `/v1/mcp-tools/${encodeURIComponent(id)}`;
