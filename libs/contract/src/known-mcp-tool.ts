import { z } from 'zod';
import { mcpToolId } from './ids';
import { mcpTool } from './mcp-server';

/** What a server says of a tool, as a model is shown it. */
export const mcpToolDefinition = mcpTool.pick({
  description: true,
  parameters: true,
  output_schema: true,
  effect_class: true,
  fingerprint: true,
});
export type McpToolDefinition = z.infer<typeof mcpToolDefinition>;

/** A tool of an MCP server as runs of an account know it. */
export const knownMcpTool = z.object({
  id: mcpToolId,
  /** The name that a run gave the server. */
  server: z.string(),
  /** As the server calls it. */
  tool: z.string(),
  /** Whether runs are offered it, as far as its definition goes. */
  available: z.boolean(),
  reason: z.string(),
  /** What runs may be offered: the first that a run saw, or the one that was confirmed last. */
  accepted: mcpToolDefinition,
  /** What the server said last, if that is something else. It awaits a confirmation. */
  changed: mcpToolDefinition.nullable(),
  changed_at: z.iso.datetime().nullable(),
  /** The id of the caller. */
  confirmed_by: z.string().nullable(),
  confirmed_at: z.iso.datetime().nullable(),
  first_seen_at: z.iso.datetime(),
});
export type KnownMcpTool = z.infer<typeof knownMcpTool>;
