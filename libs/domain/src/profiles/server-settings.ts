import type { McpServer, McpServerRequest, RunSettings, SettingsRequest } from '@rondo/contract';

/** Makes a server's headers unreadable for all but executors. */
export type SealServer = (server: McpServerRequest) => McpServer;

interface ServerDefaults {
  /** Absent: there is no way to keep secrets. */
  readonly sealServer?: SealServer | undefined;
  /** Those of the stored agent. */
  readonly agentServers?: readonly McpServer[] | undefined;
}

/** The MCP servers of the request, or those of its agent. */
export function serversOf(
  { mcp_servers: requested, agent }: SettingsRequest,
  { sealServer: seal, agentServers = [] }: ServerDefaults,
): { settings: Pick<RunSettings, 'mcp_servers'>; problems: { field: string; message: string }[] } {
  const servers = requested ?? agent?.mcp_servers;
  if (!servers) return { settings: agentServers.length > 0 ? { mcp_servers: [...agentServers] } : {}, problems: [] };
  if (servers.length === 0) return { settings: {}, problems: [] };
  const field = requested ? 'mcp_servers' : 'agent.mcp_servers';
  const message = 'cannot be stored: this deployment has no SECRETS_KEY';
  return {
    settings: { mcp_servers: servers.map((server) => seal?.(server) ?? withoutHeaders(server)) },
    problems: servers.flatMap((server, index) =>
      'headers' in server && !seal ? [{ field: `${field}.${index}.headers`, message }] : [],
    ),
  };
}

function withoutHeaders(server: McpServerRequest): McpServer {
  if (server.transport === 'stdio') return server;
  const { headers: _headers, ...rest } = server;
  return rest;
}
