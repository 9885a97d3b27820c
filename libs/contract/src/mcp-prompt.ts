import { z } from 'zod';

/** What is taken of a server's prompts. All of it is the server's word. */
export const promptLimits = {
  prompts: 200,
  arguments: 50,
  messages: 50,
  name: 200,
  description: 1_000,
  /** Of an argument that is given. */
  value: 10_000,
  /** Of all prompts of a list, or all messages of a prompt. */
  characters: 200_000,
} as const;

const name = z.string().min(1).max(promptLimits.name);
const description = z.string().max(promptLimits.description);

/** A text that an MCP server offers to begin with. A person chooses it, and no model. */
export const mcpPrompt = z.object({
  name,
  /** For people. Null: it has none but its name. */
  title: z.string().max(promptLimits.name).nullable(),
  description,
  arguments: z.array(z.object({ name, description, required: z.boolean() })).max(promptLimits.arguments),
});
export type McpPrompt = z.infer<typeof mcpPrompt>;

export const refusedMcpPrompt = z.object({ prompt: z.string().max(100), reason: z.string().max(500) });

export const mcpPromptMessage = z.object({
  role: z.enum(['user', 'assistant']),
  /** What is no text is a note in brackets. */
  text: z.string().max(promptLimits.characters),
});
export type McpPromptMessage = z.infer<typeof mcpPromptMessage>;

/** Which prompt is asked for, with its arguments. */
export const mcpPromptChoice = z.object({
  name,
  arguments: z
    .record(name, z.string().max(promptLimits.value))
    .refine((given) => Object.keys(given).length <= promptLimits.arguments, `at most ${promptLimits.arguments}`),
});
export type McpPromptChoice = z.infer<typeof mcpPromptChoice>;

const failed = z.object({ how: z.literal('failed'), reason: z.string().max(1_000) });

/** What came of asking a server for its prompts, or for one of them. */
export const mcpPromptAnswer = z.discriminatedUnion('how', [
  z.object({
    how: z.literal('listed'),
    prompts: z.array(mcpPrompt).max(promptLimits.prompts),
    refused: z.array(refusedMcpPrompt).max(promptLimits.prompts),
  }),
  z.object({ how: z.literal('given'), description, messages: z.array(mcpPromptMessage).max(promptLimits.messages) }),
  failed,
]);
export type McpPromptAnswer = z.infer<typeof mcpPromptAnswer>;
