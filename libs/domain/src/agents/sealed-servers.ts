import type { AgentDefinition, McpServer } from '@rondo/contract';

/** The values of headers that a version of an agent keeps: by the name of the server, then by that of the header. */
export type SealedHeaders = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The servers of a stored agent, as a run has them. */
export function listSealedServers({ mcp_servers: servers = [] }: AgentDefinition, sealed: SealedHeaders): McpServer[] {
  return servers.map((server): McpServer => {
    if (server.transport === 'stdio') return server;
    const { headers, ...rest } = server;
    const kept = sealed[server.name];
    return headers && kept ? { ...rest, sealed_headers: { ...kept } } : rest;
  });
}

/** The definition as it is stored and shown: `null` stands for the value of a header. */
export function withoutSecrets(definition: AgentDefinition): AgentDefinition {
  const { mcp_servers: servers, ...rest } = definition;
  if (!servers) return definition;
  return {
    ...rest,
    mcp_servers: servers.map((server) => {
      if (server.transport === 'stdio' || !server.headers) return server;
      const hidden = Object.fromEntries(Object.keys(server.headers).map((name) => [name, null]));
      return { ...server, headers: hidden };
    }),
  };
}
