import { z } from 'zod';

/** Of the services that ask executors which tools an MCP server has. NATS lets executors answer for 315 s. */
export const mcpVariables = {
  MCP_START_S: z.coerce.number().int().min(15).max(300).default(60).meta({
    description:
      'How long an MCP server that is a `command` may take to start, and again to list its tools: `npx` may install it first. Then the run goes on without it. See docs/mcp.md.',
    unit: 's',
  }),
};
