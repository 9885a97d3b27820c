import { z } from 'zod';
import { type ToolSetSnapshot, type ToolSnapshot, argumentsJsonSchema } from '@rondo/contract';
import { type ToolDefinition, argumentsSchema, expectedEffect } from './define-tool';
import { type ToolSet, toolSet } from './tool-set';

/** The set as data, so that a run that is resumed or replayed offers what it offered when it began. */
export const snapshotOf = ({ all, offered }: ToolSet): ToolSetSnapshot => ({
  version: 1,
  tools: all.map(describe),
  offered: offered.map(({ name }) => name),
});

function describe(tool: ToolDefinition): ToolSnapshot {
  const { name, description, runsIn, timeoutMs, group, example, xml, alias, source } = tool;
  return {
    name,
    description,
    parameters: argumentsJsonSchema.parse(argumentsSchema(tool)),
    effect_class: expectedEffect(tool),
    runs_in: runsIn,
    timeout_ms: timeoutMs,
    group,
    ...(example && { example: { ...example } }),
    ...(xml && { xml: { ...xml, attributes: xml.attributes && [...xml.attributes] } }),
    ...(alias && { alias_of: alias.of }),
    source: source ?? { kind: 'built_in' },
  };
}

/**
 * The set that a snapshot describes. A built-in tool keeps what only code can do (the parsing of its arguments, the class
 * of one call) and shows the model what it showed before. Any other tool, or one that is built in no longer, is
 * restored from the snapshot alone; its executor validates its arguments.
 */
export function restoreToolSet({ tools, offered }: ToolSetSnapshot, catalog: readonly ToolDefinition[]): ToolSet {
  const builtIn = new Map(catalog.map((tool) => [tool.name, tool]));
  const restored = tools.map((snapshot) => {
    const known = snapshot.source.kind === 'built_in' ? builtIn.get(snapshot.name) : undefined;
    return known ? { ...known, ...shownBy(snapshot) } : { ...codelessTool(snapshot), ...shownBy(snapshot) };
  });
  return toolSet(restored, offered);
}

const shownBy = ({ description, parameters }: ToolSnapshot) => ({ description, parameters });

const codelessTool = ({
  name,
  description,
  effect_class,
  runs_in,
  timeout_ms,
  ...rest
}: ToolSnapshot): ToolDefinition => ({
  name,
  description,
  input: z.looseObject({}),
  effect: effect_class,
  runsIn: runs_in,
  timeoutMs: timeout_ms,
  group: rest.group,
  source: rest.source,
  ...(rest.example && { example: rest.example }),
  ...(rest.xml && { xml: rest.xml }),
});
