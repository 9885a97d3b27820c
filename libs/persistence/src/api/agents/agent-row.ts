import { type Agent, type AgentDefinition, type AgentId, type AgentVersion, agentId } from '@rondo/contract';
import { type ActiveAgent, type SealedHeaders, TerminalError, listSealedServers } from '@rondo/domain';
import { z } from 'zod';
import { anyJson } from '../../database/checked-query';

/** An agent joined with its active version. */
export const agentRow = z.object({
  id: agentId,
  version: z.number(),
  latest_version: z.number(),
  is_default: z.boolean(),
  tags: z.array(z.string()),
  created_at: z.date(),
  updated_at: z.date(),
  definition: anyJson,
});
export type AgentRow = z.infer<typeof agentRow>;

/** The columns of `AgentRow`, of `agents` joined with `agent_versions` as `active`. */
export const agentColumns = `
agents.id, agents.version, agents.latest_version, agents.is_default, agents.tags, agents.created_at, agents.updated_at,
active.definition`;

/** What bounds a page of definitions, in bytes. */
export const definitionLength = 'octet_length(definition::text)';

export const activeVersion = `agent_versions as active on active.agent_id = agents.id and active.version = agents.version`;

export const toAgent = (row: AgentRow): Agent => ({
  id: row.id,
  version: row.version,
  latest_version: row.latest_version,
  is_default: row.is_default,
  tags: [...row.tags],
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  definition: toDefinition(row.definition),
});

export const versionRow = z.object({
  version: z.number(),
  is_active: z.boolean(),
  note: z.string().nullable(),
  created_at: z.date(),
  definition: anyJson,
});
export type VersionRow = z.infer<typeof versionRow>;

export const toVersion = ({ created_at, definition, ...row }: VersionRow): AgentVersion => ({
  version: row.version,
  is_active: row.is_active,
  note: row.note,
  created_at: created_at.toISOString(),
  definition: toDefinition(definition),
});

/** Not parsed: only this library writes it, from a typed definition. */
export const toDefinition = (stored: unknown): AgentDefinition => stored as AgentDefinition;

/** Not parsed, for the same reason. */
export const toSealedHeaders = (stored: unknown): SealedHeaders => (stored ?? {}) as SealedHeaders;

/** An agent with its active version. */
export const activeRow = z.object({
  id: agentId,
  version: z.number(),
  definition: anyJson,
  sealed_headers: anyJson,
});
export type ActiveRow = z.infer<typeof activeRow>;

export function toActive({ id, version, definition, sealed_headers: sealed }: ActiveRow): ActiveAgent {
  const known = toDefinition(definition);
  return { id, version, definition: known, servers: listSealedServers(known, toSealedHeaders(sealed)) };
}

export const agentNotFound = (id: AgentId): TerminalError =>
  new TerminalError('agent_not_found', `There is no agent ${id}.`);
