import { createHash } from 'node:crypto';
import { type EffectClass, type McpServer, type McpTool, maxMcpTools, mcpResourceOperation } from '@rondo/contract';
import { toolName } from '@rondo/platform';
import { z } from 'zod';
import { sortKeys } from '../sort-keys';
import { isReadable, readableLine } from './readable-text';
import { SchemaRefused, boundSchema, checkSchema, type SchemaChecker } from './schemas/schema-checker';

export interface DescribedTools {
  readonly tools: McpTool[];
  readonly refused: { tool: string; reason: string }[];
}

const shownName = 60;
const descriptionCharacters = 1_000;
/** Of all tools of a server together, so that it cannot fill the prompt. */
const allCharacters = 200_000;

/** What a server says of a tool. All of it may be a lie. */
const claimed = z.object({
  name: z.string(),
  description: z.string().max(100_000).optional(),
  inputSchema: z.unknown(),
  outputSchema: z.unknown().optional(),
  annotations: z
    .object({ readOnlyHint: z.boolean().optional(), idempotentHint: z.boolean().optional() })
    .optional()
    .catch(undefined),
});
type Claimed = z.infer<typeof claimed>;

/** The tools that a model may be shown, and why others may not. Their schemas can be used. */
export async function describeTools(
  server: McpServer,
  given: readonly unknown[],
  { schemas, signal }: { schemas: Pick<SchemaChecker, 'readProblems'>; signal: AbortSignal },
): Promise<DescribedTools> {
  const { tools, refused } = readTools(server, given);
  const described: DescribedTools = { tools: [], refused };
  const problems = await schemas.readProblems(tools.flatMap(listSchemas), signal);
  for (const tool of tools) {
    const [input, output] = problems.splice(0, listSchemas(tool).length);
    if (input !== undefined) refuse(described, tool.tool, `its schema ${input}`);
    else if (output !== undefined) refuse(described, tool.tool, `its output schema ${output}`);
    else described.tools.push(tool);
  }
  return described;
}

const listSchemas = ({ parameters, output_schema }: McpTool) => [parameters, ...(output_schema ? [output_schema] : [])];

/**
 * Judges by form and size. What a server says stands behind its name, so that a model
 * does not take it for the word of the one that it works for.
 */
function readTools(server: McpServer, given: readonly unknown[]): DescribedTools {
  const described: DescribedTools = { tools: [], refused: [] };
  const times = new Map<string, number>();
  for (const name of given.map(toName)) times.set(name, (times.get(name) ?? 0) + 1);
  let left = allCharacters;
  for (const one of given) {
    const name = toName(one);
    if (server.tools && !server.tools.includes(name)) continue;
    const outcome = described.tools.length < maxMcpTools ? toDescription(server, one) : 'the server has too many tools';
    const problem = (times.get(name) ?? 0) > 1 ? 'the server has several tools of this name' : outcome;
    if (typeof problem !== 'string') left -= JSON.stringify(problem).length;
    if (typeof problem === 'string') refuse(described, name, problem);
    else if (left < 0) refuse(described, name, 'the descriptions of the server are too long');
    else described.tools.push(problem);
  }
  return described;
}

const toName = (given: unknown): string => claimed.pick({ name: true }).safeParse(given).data?.name ?? '';

export function refuse({ refused }: DescribedTools, name: string, reason: string): void {
  if (refused.length < maxMcpTools) refused.push({ tool: readableLine(name, shownName), reason });
}

function toDescription(server: McpServer, given: unknown): McpTool | string {
  const parsed = claimed.safeParse(given);
  if (!parsed.success) return 'its description has not the form of one';
  const { name, description = '', inputSchema, outputSchema } = parsed.data;
  if (name === '' || name.length > 100 || !isReadable(name)) return 'its name is unreadable or too long';
  if (mcpResourceOperation.safeParse(name).success) return 'its name is that of an operation of the protocol';
  const parameters = schemaOrProblem('its schema', () => checkSchema(inputSchema));
  if (typeof parameters === 'string') return parameters;
  const hasOutput = outputSchema !== undefined;
  const output = hasOutput ? schemaOrProblem('its output schema', () => boundSchema(outputSchema)) : undefined;
  if (typeof output === 'string') return output;
  return {
    name: toolName(server.name, name),
    tool: name,
    description: `Tool of the server "${server.name}". ${readableLine(description, descriptionCharacters)}`.trim(),
    parameters,
    ...(output && { output_schema: output }),
    effect_class: toEffect(parsed.data),
    fingerprint: toFingerprint(parsed.data),
  };
}

function schemaOrProblem(whose: string, read: () => McpTool['parameters']): McpTool['parameters'] | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof SchemaRefused) return `${whose} ${error.message}`;
    throw error;
  }
}

/** By the server's own word, which counts only for a server that the run trusts. */
function toEffect({ annotations }: Claimed): EffectClass {
  if (annotations?.readOnlyHint === true) return 'pure';
  return annotations?.idempotentHint === true ? 'idempotent' : 'unsafe';
}

/** Of all that a server says about a tool. The order of keys does not count. */
export const toFingerprint = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(sortKeys(value)))
    .digest('hex')
    .slice(0, 32);
