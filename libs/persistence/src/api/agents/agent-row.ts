import { type Agent, type AgentDefinition, type AgentId, type AgentVersion, agentId } from '@rondo/contract';
import { type ActiveAgent, type SealedHeaders, TerminalError, sealedServers } from '@rondo/domain';

/** An agent joined with its active version. */
export interface AgentRow {
  readonly id: string;
  readonly version: number;
  readonly latest_version: number;
  readonly is_default: boolean;
  readonly tags: readonly string[];
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly definition: unknown;
}

/** The columns of `AgentRow`, of `agents` joined with `agent_versions` as `active`. */
export const agentColumns = `
agents.id, agents.version, agents.latest_version, agents.is_default, agents.tags, agents.created_at, agents.updated_at,
active.definition`;

export const activeVersion = `agent_versions as active on active.agent_id = agents.id and active.version = agents.version`;

export const agentOf = (row: AgentRow): Agent => ({
  id: agentId.parse(row.id),
  version: row.version,
  latest_version: row.latest_version,
  is_default: row.is_default,
  tags: [...row.tags],
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  definition: definitionOf(row.definition),
});

export interface VersionRow {
  readonly version: number;
  readonly is_active: boolean;
  readonly note: string | null;
  readonly created_at: Date;
  readonly definition: unknown;
}

export const versionOf = ({ created_at, definition, ...row }: VersionRow): AgentVersion => ({
  version: row.version,
  is_active: row.is_active,
  note: row.note,
  created_at: created_at.toISOString(),
  definition: definitionOf(definition),
});

/** Not parsed: only this library writes it, from a typed definition. */
export const definitionOf = (stored: unknown): AgentDefinition => stored as AgentDefinition;

/** Not parsed, for the same reason. */
export const sealedHeadersOf = (stored: unknown): SealedHeaders => (stored ?? {}) as SealedHeaders;

/** An agent with its active version. */
export interface ActiveRow {
  readonly id: string;
  readonly version: number;
  readonly definition: unknown;
  readonly sealed_headers: unknown;
}

export function activeOf({ id, version, definition, sealed_headers: sealed }: ActiveRow): ActiveAgent {
  const known = definitionOf(definition);
  return { id: agentId.parse(id), version, definition: known, servers: sealedServers(known, sealedHeadersOf(sealed)) };
}

export const agentNotFound = (id: AgentId): TerminalError =>
  new TerminalError('agent_not_found', `There is no agent ${id}.`);
