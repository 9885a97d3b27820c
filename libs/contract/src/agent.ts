import { z } from 'zod';
import { mcpServersOfAgent } from './mcp-server';
import { agentId } from './ids';
import { agentSettings, profileName } from './run-settings';

/** What a version of a stored agent consists of. A version never changes. */
export const agentDefinition = agentSettings.extend({
  name: z.string().trim().min(1).max(200),
  profile: profileName.optional(),
  mcp_servers: mcpServersOfAgent.optional(),
});
export type AgentDefinition = z.infer<typeof agentDefinition>;

const versionNumber = z.number().int().positive();

/** A stored agent, with the definition of its active version. */
export const agent = z.object({
  id: agentId,
  /** The active version: new runs begin with it. */
  version: versionNumber,
  latest_version: versionNumber,
  /** Runs of the account that name no agent begin with it. */
  is_default: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  definition: agentDefinition,
});
export type Agent = z.infer<typeof agent>;

export const agentVersion = z.object({
  version: versionNumber,
  is_active: z.boolean(),
  created_at: z.iso.datetime(),
  definition: agentDefinition,
});
export type AgentVersion = z.infer<typeof agentVersion>;

/** One difference between two definitions. `path` is a JSON Pointer; `before` or `after` is absent where there is no value. */
export const definitionChange = z.object({
  op: z.enum(['add', 'remove', 'replace']),
  path: z.string(),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
});
export type DefinitionChange = z.infer<typeof definitionChange>;

/** Which setting decided the agent of a run. `built_in`: none did, and the profile applies alone. */
export const agentSource = z.enum(['request', 'thread', 'account', 'built_in']);
export type AgentSource = z.infer<typeof agentSource>;
