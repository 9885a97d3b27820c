import type { AgentDefinition, AgentId, AgentSource, McpServer, SettingsRequest } from '@rondo/contract';

/** A stored agent's active version. */
export interface ActiveAgent {
  readonly id: AgentId;
  readonly version: number;
  readonly definition: AgentDefinition;
  /** Those of the definition, with the values of their headers. */
  readonly servers: readonly McpServer[];
}

/** The agents that could apply to a run, by what names them. */
export type AgentCandidates = Readonly<Partial<Record<Exclude<AgentSource, 'built_in'>, ActiveAgent>>>;

export interface ResolvedAgent {
  readonly source: AgentSource;
  readonly agent: ActiveAgent | undefined;
}

const order = ['request', 'thread', 'account'] as const;

/** The request wins over the thread, and the thread over the account's default. Without any of them the profile applies alone. */
export function resolveAgent(candidates: AgentCandidates): ResolvedAgent {
  const source = order.find((name) => candidates[name] !== undefined);
  return source === undefined ? { source: 'built_in', agent: undefined } : { source, agent: candidates[source] };
}

/** The request with the agent's definition below it, but for its servers: what the request itself says wins. */
export function withDefinition(request: SettingsRequest, definition: AgentDefinition | undefined): SettingsRequest {
  if (!definition) return request;
  const { profile, mcp_servers: _servers, ...agent } = definition;
  return { ...request, profile: request.profile ?? profile, agent };
}
