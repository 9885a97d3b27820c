import { z } from 'zod';
import { defineTool } from './define-tool';

/** Offered where the definitions of servers' tools would fill requests: see docs/mcp.md. */
export const toolSearch = defineTool({
  name: 'tool_search',
  description:
    'Find tools of outside servers, of which you are shown only those that you have found. The tools that match are among yours ' +
    'from your next turn on.',
  input: z.strictObject({
    query: z.string().min(1).max(500).describe('What the tool should do, in a few words; or its name.'),
    limit: z.number().int().min(1).max(20).default(5),
  }),
  effect: 'pure',
  runsIn: 'loop',
  timeoutMs: 1_000,
  group: 'memory',
  example: { query: 'create ticket' },
  xml: { attributes: ['query', 'limit'] },
});
