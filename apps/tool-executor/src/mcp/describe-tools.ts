import type { EffectClass, McpServer, McpTool } from '@rondo/contract';
import { z } from 'zod';
import { fingerprintOf } from './fingerprint';
import { isReadable, readableLine } from './readable-text';
import { SchemaRefused, checkedSchema } from './tool-schema';
import { toolName } from './tool-name';

export interface DescribedTools {
  readonly tools: McpTool[];
  readonly refused: { tool: string; reason: string }[];
}

const mostTools = 128;
const shownName = 60;
const descriptionCharacters = 1_000;
/** Of all tools of a server together, so that it cannot fill the prompt. */
const allCharacters = 200_000;

/** What a server says of a tool. All of it may be a lie. */
const claimed = z.object({
  name: z.string(),
  description: z.string().max(100_000).optional(),
  inputSchema: z.unknown(),
  annotations: z
    .object({ readOnlyHint: z.boolean().optional(), idempotentHint: z.boolean().optional() })
    .optional()
    .catch(undefined),
});
type Claimed = z.infer<typeof claimed>;

/**
 * The tools that a model may be shown, and why others may not. What a server says stands behind its name, so that a model
 * does not take it for the word of the one that it works for.
 */
export function describeTools(server: McpServer, given: readonly unknown[]): DescribedTools {
  const described: DescribedTools = { tools: [], refused: [] };
  const times = new Map<string, number>();
  for (const name of given.map(nameOf)) times.set(name, (times.get(name) ?? 0) + 1);
  let left = allCharacters;
  for (const one of given) {
    const name = nameOf(one);
    if (server.tools && !server.tools.includes(name)) continue;
    const outcome = described.tools.length < mostTools ? descriptionOf(server, one) : 'the server has too many tools';
    const problem = (times.get(name) ?? 0) > 1 ? 'the server has several tools of this name' : outcome;
    if (typeof problem !== 'string') left -= JSON.stringify(problem).length;
    if (typeof problem === 'string') refuse(described, name, problem);
    else if (left < 0) refuse(described, name, 'the descriptions of the server are too long');
    else described.tools.push(problem);
  }
  return described;
}

const nameOf = (given: unknown): string => claimed.pick({ name: true }).safeParse(given).data?.name ?? '';

function refuse({ refused }: DescribedTools, name: string, reason: string): void {
  if (refused.length < mostTools) refused.push({ tool: readableLine(name, shownName), reason });
}

function descriptionOf(server: McpServer, given: unknown): McpTool | string {
  const parsed = claimed.safeParse(given);
  if (!parsed.success) return 'its description has not the form of one';
  const { name, description = '', inputSchema } = parsed.data;
  if (name === '' || name.length > 100 || !isReadable(name)) return 'its name is unreadable or too long';
  try {
    return {
      name: toolName(server.name, name),
      tool: name,
      description: `Tool of the server "${server.name}". ${readableLine(description, descriptionCharacters)}`.trim(),
      parameters: checkedSchema(inputSchema),
      effect_class: effectOf(parsed.data),
      fingerprint: fingerprintOf(parsed.data),
    };
  } catch (error) {
    if (error instanceof SchemaRefused) return error.message;
    throw error;
  }
}

/** By the server's own word, which counts only for a server that the run trusts. */
function effectOf({ annotations }: Claimed): EffectClass {
  if (annotations?.readOnlyHint === true) return 'pure';
  return annotations?.idempotentHint === true ? 'idempotent' : 'unsafe';
}
