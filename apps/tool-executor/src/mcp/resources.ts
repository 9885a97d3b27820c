import {
  type McpResourceOperation,
  type McpServer,
  type McpTool,
  argumentsJsonSchema,
  maxMcpTools,
  mcpResourceOperation,
} from '@rondo/contract';
import { toolName } from '@rondo/platform';
import { z } from 'zod';
import { type DescribedTools, refuse, toFingerprint } from './describe-tools';
import { AnswerUnreadable, type McpAnswer, lenient } from './mcp-result';
import { isReadable, readableLine } from './readable-text';

const longestUri = 2_000;
const longestCursor = 1_000;
/** Of one page that a model reads. */
const page = { entries: 100, characters: 16_000 };

const listInput = z.object({
  templates: z.boolean().default(false).describe('true: templates of URIs. A URI that fits one can be read.'),
  /** How many entries of the server's page were shown, and the server's own cursor of that page. */
  cursor: z
    .string()
    .max(longestCursor + 10)
    .regex(/^\d{1,6}:/)
    .default('0:')
    .describe('Of the last page, for the next one.'),
});
const readInput = z.object({ uri: z.string().min(1).max(longestUri).describe('Exactly as the server wrote it.') });

const operations = {
  'resources/list': {
    verb: 'list_resources',
    description: 'Lists the resources that the server has: documents and data, by their URIs.',
    input: listInput,
  },
  'resources/read': {
    verb: 'read_resource',
    description: 'Reads a resource of the server by its URI, which a list or a result of the server has named.',
    input: readInput,
  },
} satisfies Record<McpResourceOperation, { verb: string; description: string; input: z.ZodType }>;

/** A model lists and reads what a server has with two tools more. Their names are none of the server's own tools. */
export function withResources(server: McpServer, described: DescribedTools): DescribedTools {
  const taken = new Set(described.tools.map(({ name }) => name));
  for (const operation of mcpResourceOperation.options) {
    if (server.tools && !server.tools.includes(operation)) continue;
    const tool = toTool(server, operation, taken);
    if (taken.has(tool.name)) refuse(described, operation, 'the server has tools of its names');
    else if (described.tools.length >= maxMcpTools) refuse(described, operation, 'the server has too many tools');
    else described.tools.push(tool);
  }
  return described;
}

function toTool(server: McpServer, operation: McpResourceOperation, taken: ReadonlySet<string>): McpTool {
  const { verb, description, input } = operations[operation];
  const plain = toolName(server.name, verb);
  return {
    name: taken.has(plain) ? toolName(server.name, operation) : plain,
    tool: operation,
    description: `Of the server "${server.name}": ${description}`,
    parameters: toSchema(input),
    effect_class: 'idempotent',
    fingerprint: toFingerprint(operation), // the protocol says what it does, and no server
  };
}

function toSchema(input: z.ZodType): McpTool['parameters'] {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' });
  return argumentsJsonSchema.parse(schema);
}

export interface ResourceRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly readAnswer: (answer: Readonly<Record<string, unknown>>) => McpAnswer;
}

/** The request of the protocol that such a tool stands for. Undefined for a tool of the server. */
export function toResourceRequest(tool: string, given: Readonly<Record<string, unknown>>): ResourceRequest | undefined {
  const operation = mcpResourceOperation.safeParse(tool).data;
  if (operation === undefined) return undefined;
  if (operation === 'resources/read')
    return { method: operation, params: readInput.parse(given), readAnswer: readContents };
  const { templates, cursor } = listInput.parse(given);
  const [shown = '0'] = cursor.split(':', 1);
  const list = {
    of: templates ? 'resourceTemplates' : 'resources',
    shown: Number(shown),
    cursor: cursor.slice(shown.length + 1),
  } as const;
  return {
    method: templates ? 'resources/templates/list' : operation,
    params: list.cursor === '' ? {} : { cursor: list.cursor },
    readAnswer: (answer) => toPage(answer, list),
  };
}

/** What was read is shown like what a result embeds. */
function readContents({ contents }: Readonly<Record<string, unknown>>): McpAnswer {
  const given = z.array(z.looseObject({})).safeParse(contents).data;
  if (!given) throw new AnswerUnreadable('it has no contents');
  return { content: given.map((resource) => ({ type: 'resource', resource })), isError: false };
}

interface List {
  readonly of: 'resources' | 'resourceTemplates';
  readonly shown: number;
  readonly cursor: string;
}

const text = lenient(z.string());
const entry = z.looseObject({
  ...{ uri: text, uriTemplate: text, name: text, title: text, description: text, mimeType: text },
  size: lenient(z.number().int().nonnegative()),
});

function toPage(answer: Readonly<Record<string, unknown>>, { of, shown, cursor }: List): McpAnswer {
  const given = z.array(z.unknown()).safeParse(answer[of]).data;
  if (!given) throw new AnswerUnreadable(`it has no list of ${of}`);
  const lines: string[] = [];
  let characters = 0;
  for (const one of given.slice(shown)) {
    const line = toLine(one);
    if (lines.length > 0 && (lines.length >= page.entries || characters + line.length > page.characters)) break;
    lines.push(line);
    characters += line.length;
  }
  const next = findNext(answer['nextCursor'], { cursor, shown: shown + lines.length, total: given.length });
  if (lines.length === 0) lines.push('There are none.');
  if (next !== undefined) lines.push(`There are more: go on with the cursor ${JSON.stringify(next)}.`);
  return { content: [{ type: 'text', text: lines.join('\n') }], isError: false };
}

/** A server that names the same page again would have it read without end. */
function findNext(given: unknown, { cursor, shown, total }: { cursor: string; shown: number; total: number }) {
  if (shown < total) return `${shown}:${cursor}`;
  const isUsable = typeof given === 'string' && given !== '' && given.length <= longestCursor && isReadable(given);
  return isUsable && given !== cursor ? `0:${given}` : undefined;
}

function toLine(given: unknown): string {
  const { uri, uriTemplate, name, title, description, mimeType, size } = entry.safeParse(given).data ?? {};
  const facts = [title ?? name, mimeType, size === undefined ? undefined : `${size} bytes`];
  const described = facts.flatMap((fact) => (fact === undefined ? [] : [readableLine(fact, 200)])).join(', ');
  const line = `- ${readableLine(uri ?? uriTemplate ?? '', longestUri)}${described === '' ? '' : ` (${described})`}`;
  return description === undefined ? line : `${line}: ${readableLine(description, 300)}`;
}
