import { z } from 'zod';
import { defineTool } from './define-tool';

/** What these tools know is what the thread's messages say, so it needs no store of its own and survives like they do. */
const inLoop = { effect: 'pure', runsIn: 'loop', timeoutMs: 1_000, group: 'memory' } as const;

export const expandMessage = defineTool({
  name: 'expand_message',
  description:
    'Read the whole text of an earlier message of this conversation that was shortened, left out or summarized. ' +
    'Long texts come in pieces: ask again with the start that the answer names.',
  input: z.strictObject({
    message_id: z
      .string()
      .regex(/^msg_\w+$/, 'must look like msg_…')
      .describe('The id that the hint names.'),
    start: z.number().int().nonnegative().default(0).describe('The character to begin at.'),
  }),
  ...inLoop,
  xml: { attributes: ['message_id', 'start'] },
});

export const compactifyMemory = defineTool({
  name: 'compactify_memory',
  description:
    'Have the conversation so far replaced by a summary before your next turn. Use it when a part of the work is done ' +
    'and its details are no longer needed.',
  input: z.strictObject({}),
  ...inLoop,
});

export const simpleMemory = defineTool({
  name: 'simple_memory',
  description:
    'A notebook for this conversation that no summary touches. "read" shows it, "write" replaces all of it by content, ' +
    '"edit" replaces old_string, which must occur exactly once, by new_string.',
  input: z.strictObject({
    action: z.enum(['read', 'write', 'edit']),
    content: z.string().optional().describe('For write: the new text.'),
    old_string: z.string().optional().describe('For edit: the text to replace.'),
    new_string: z.string().optional().describe('For edit: what stands there instead.'),
  }),
  ...inLoop,
});

export const sequentialThinking = defineTool({
  name: 'sequential_thinking',
  description:
    'Think a hard problem through in numbered steps. A step may revise an earlier one or branch off from it, and the ' +
    'number of steps may change on the way.',
  input: z.strictObject({
    thought: z.string().min(1),
    nextThoughtNeeded: z.boolean().describe('Whether another step follows.'),
    thoughtNumber: z.number().int().min(1),
    totalThoughts: z.number().int().min(1).describe('How many steps you expect.'),
    isRevision: z.boolean().optional(),
    revisesThought: z.number().int().min(1).optional(),
    branchFromThought: z.number().int().min(1).optional(),
    branchId: z.string().optional(),
    needsMoreThoughts: z.boolean().optional(),
  }),
  ...inLoop,
  xml: { content: 'thought' },
});
