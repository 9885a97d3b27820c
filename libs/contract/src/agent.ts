import { z } from 'zod';
import { mcpServersOfAgent } from './mcp-server';
import { agentId } from './ids';
import { agentSettings, profileName } from './run-settings';

/** What a version of a stored agent consists of. It never changes; the note of a version may. */
export const agentDefinition = agentSettings.extend({
  name: z.string().trim().min(1).max(200),
  profile: profileName.optional(),
  mcp_servers: mcpServersOfAgent.optional(),
});
export type AgentDefinition = z.infer<typeof agentDefinition>;

const versionNumber = z.number().int().positive();

const mostTags = 20;

/** A word or two to find agents by. Upper case and spaces around it do not count. */
export const agentTag = z
  .string()
  .trim()
  .toLowerCase()
  .max(40)
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._:/-]*$/u,
    'must begin with a letter or digit, and have these, spaces and . _ : / - only',
  );

/** A set of them: sorted, each once. */
export const agentTags = z
  .array(agentTag)
  .max(mostTags)
  .overwrite((tags) => [...new Set(tags)].sort());

export const agentSort = z.enum(['created_at', 'updated_at', 'name']);
export type AgentSort = z.infer<typeof agentSort>;

export const sortOrder = z.enum(['asc', 'desc']);
export type SortOrder = z.infer<typeof sortOrder>;

/** What a person says of a version, for example why it was made. */
export const versionNote = z.string().trim().min(1).max(2_000);

/** A stored agent, with the definition of its active version. */
export const agent = z.object({
  id: agentId,
  /** The active version: new runs begin with it. */
  version: versionNumber,
  latest_version: versionNumber,
  /** Runs of the account that name no agent begin with it. */
  is_default: z.boolean(),
  /** Sorted. They belong to the agent and not to a version. */
  tags: z.array(z.string()),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  definition: agentDefinition,
});
export type Agent = z.infer<typeof agent>;

export const agentVersion = z.object({
  version: versionNumber,
  is_active: z.boolean(),
  note: z.string().nullable(),
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
