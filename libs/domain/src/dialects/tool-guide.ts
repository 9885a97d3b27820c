import type { ToolDefinition } from '../tools/define-tool';
import { type ToolParameter, listParameters } from '../tools/tool-parameters';

/** Describes the tools as text, for a model that does not get them as data. `usage` adds how a dialect writes a call. */
export const toolGuide = (
  tools: readonly ToolDefinition[],
  usage: (tool: ToolDefinition) => readonly string[],
): string =>
  tools
    .map((tool) => {
      const parameters = [...listParameters(tool).values()].map(describeParameter);
      return [`## ${tool.name}`, tool.description, ...parameters, ...usage(tool)].join('\n');
    })
    .join('\n\n');

function describeParameter({ name, required, description, types, schema }: ToolParameter): string {
  const facts = [
    findChoices(schema) ?? (schema['type'] === 'integer' ? 'integer' : [...types].join(' or ')),
    ...(required ? ['required'] : []),
    ...('default' in schema ? [`default ${JSON.stringify(schema['default'])}`] : []),
  ];
  const shape = isNested(schema) ? ` Schema: ${JSON.stringify(schema)}` : '';
  return `- ${name} (${facts.join(', ')})${description ? `: ${description}` : ''}${shape}`;
}

const findChoices = ({ enum: choices }: ToolParameter['schema']): string | undefined =>
  Array.isArray(choices) ? `one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}` : undefined;

/** Lists and objects need their schema. */
const isNested = (schema: ToolParameter['schema']): boolean =>
  ['anyOf', 'oneOf', 'items', 'properties'].some((keyword) => keyword in schema);
