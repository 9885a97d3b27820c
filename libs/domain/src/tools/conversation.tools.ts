import { z } from 'zod';
import { defineTool } from './define-tool';

const attachments = z
  .union([z.string(), z.array(z.string()).max(100)])
  .optional()
  .describe('Paths of files to show with it.');

export const ask = defineTool({
  name: 'ask',
  description: 'Ask the user a question and wait for the answer. The only way to get one.',
  input: z.strictObject({ text: z.string().min(1), attachments }),
  effect: 'pure',
  runsIn: 'loop',
  timeoutMs: 1_000,
  group: 'conversation',
});

export const complete = defineTool({
  name: 'complete',
  description: 'Say that the whole task is done, with a closing message for the user.',
  input: z.strictObject({ text: z.string().optional(), attachments }),
  effect: 'pure',
  runsIn: 'loop',
  timeoutMs: 1_000,
  group: 'conversation',
});
