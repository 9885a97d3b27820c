import { z } from 'zod';
import { defineTool } from './define-tool';

/** What these tools know is what the thread's messages say, so it needs no store of its own and survives like they do. */
const inLoop = { effect: 'pure', runsIn: 'loop', timeoutMs: 1_000, group: 'memory' } as const;

export const expandMessage = defineTool({
  name: 'expand_message',
  description:
    'Read an earlier message that was shortened, left out or summarized. If the answer names a start, ask for the next piece.',
  input: z.strictObject({
    message_id: z.string().regex(/^msg_\w+$/, 'must look like msg_…'),
    start: z.number().int().nonnegative().default(0),
  }),
  ...inLoop,
  xml: { attributes: ['message_id', 'start'] },
});

export const compactifyMemory = defineTool({
  name: 'compactify_memory',
  description: 'Have the conversation replaced by a summary, when its details are no longer needed.',
  input: z.strictObject({}),
  ...inLoop,
});

export const simpleMemory = defineTool({
  name: 'simple_memory',
  description:
    'A notebook that no summary touches. "write" replaces all of it by content, "edit" replaces old_string, which must occur ' +
    'exactly once, by new_string.',
  input: z.strictObject({
    action: z.enum(['read', 'write', 'edit']),
    content: z.string().optional(),
    old_string: z.string().optional(),
    new_string: z.string().optional(),
  }),
  ...inLoop,
});

export const sequentialThinking = defineTool({
  name: 'sequential_thinking',
  description: 'Think a hard problem through in numbered steps, which may revise earlier ones or branch off.',
  input: z.strictObject({
    thought: z.string().min(1),
    nextThoughtNeeded: z.boolean(),
    thoughtNumber: z.number().int().min(1),
    totalThoughts: z.number().int().min(1).describe('As far as you know.'),
    isRevision: z.boolean().optional(),
    revisesThought: z.number().int().min(1).optional(),
    branchFromThought: z.number().int().min(1).optional(),
    branchId: z.string().optional(),
    needsMoreThoughts: z.boolean().optional(),
  }),
  ...inLoop,
  xml: { content: 'thought' },
});

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
