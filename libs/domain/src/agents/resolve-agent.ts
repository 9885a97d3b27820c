import {
  type AgentDefinition,
  type AgentId,
  type AgentSource,
  type McpServer,
  type SettingsRequest,
  textLimits,
} from '@rondo/contract';

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

/**
 * The request with the agent's definition below it, but for its servers: what the request itself says wins. `instructions` of the
 * request follow those of the agent, as directives; without an agent they are the system prompt.
 */
export function withDefinition(
  request: SettingsRequest,
  definition: AgentDefinition | undefined,
  instructions?: string,
): SettingsRequest {
  if (!definition)
    return instructions === undefined
      ? request
      : { ...request, agent: { ...request.agent, system_prompt: instructions } };
  const { profile, mcp_servers: _servers, ...agent } = definition;
  const directives = [...(agent.directives ?? []), ...toDirectives(instructions)];
  return {
    ...request,
    profile: request.profile ?? profile,
    agent: { ...agent, ...(directives.length > 0 && { directives }) },
  };
}

/** Where a text is cut that is longer than a directive, the best first: between paragraphs, lines, sentences, words. */
const seams = [/\n\s*\n/g, /\n/g, /(?<=[.!?])\s/g, /\s/g];

/** The text in whole paragraphs, as far as they fit: half of a rule may say the opposite of it. */
function toDirectives(instructions = ''): readonly string[] {
  const text = instructions.trim();
  if (text.length <= textLimits.directive) return text === '' ? [] : [text];
  const head = text.slice(0, textLimits.directive);
  const ends = seams.map((seam) => [...head.matchAll(seam)].at(-1)?.index ?? 0);
  const end = ends.find((at) => at > 0) ?? wholeCharacters(head);
  return [text.slice(0, end).trimEnd(), ...toDirectives(text.slice(end))];
}

/** The length of the text without the first half of a character at its end. */
const wholeCharacters = (text: string): number => (text.isWellFormed() ? text.length : text.length - 1);

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
