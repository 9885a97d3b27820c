import { z } from 'zod';
import { type ToolSetSnapshot, type ToolSnapshot, toolSetSnapshot } from '@rondo/contract';
import { type ToolDefinition, shownSchema, expectEffect } from './define-tool';
import { type ToolSet, toolSet } from './tool-set';

/** The set as data, so that a run that is resumed or replayed offers what it offered when it began. */
export const toSnapshot = ({
  all,
  offered,
  search,
  programs,
}: Pick<ToolSet, 'all' | 'offered' | 'search' | 'programs'>): ToolSetSnapshot =>
  toolSetSnapshot.parse({
    version: 1,
    tools: all.map(describe),
    offered: offered.map(({ name }) => name),
    ...(search && { search: { tools: search.tools.map(({ name }) => name), capacity: search.capacity } }),
    ...(programs && { programs: programs.map(({ name }) => name) }),
  });

const describe = (tool: ToolDefinition) => ({
  name: tool.name,
  description: tool.description,
  parameters: shownSchema(tool),
  effect_class: expectEffect(tool),
  runs_in: tool.runsIn,
  timeout_ms: tool.timeoutMs,
  group: toKnownGroup(tool),
  example: tool.example,
  xml: tool.xml,
  ...(tool.alias && { alias_of: tool.alias.of }),
  source: tool.source ?? { kind: 'built_in' },
});

/** Workers of the version before read the snapshots of all runs, and know no other group. */
const toKnownGroup = ({ group }: ToolDefinition) => (group === 'code' ? 'shell' : group);

/**
 * The set that a snapshot describes. A built-in tool has the code of this version, which parses its arguments and knows
 * the class of a call, and shows the model what it showed before, byte for byte. Any other tool, and one that is no longer
 * built in, is restored from the snapshot alone; its executor validates its arguments.
 */
export function restoreToolSet(
  { tools, offered, search, programs }: ToolSetSnapshot,
  builtIn: readonly ToolDefinition[],
): ToolSet {
  const known = new Map(builtIn.map((tool) => [tool.name, tool]));
  const restored = tools.map((snapshot) => {
    const code = snapshot.source.kind === 'built_in' ? known.get(snapshot.name) : undefined;
    return { ...(code ? withoutShown(code) : codeless(snapshot)), ...pickShown(snapshot) };
  });
  return toolSet(restored, offered, { search, programs });
}

/** What a prompt contains of a tool. */
const pickShown = ({ description, parameters, example, xml }: ToolSnapshot) => ({
  description,
  parameters,
  ...(example && { example }),
  ...(xml && { xml }),
});

/** An example or mapping that the snapshot lacks must not come from newer code. */
const withoutShown = ({ example: _example, xml: _xml, ...code }: ToolDefinition): ToolDefinition => code;

const codeless = ({ name, description, effect_class, runs_in, timeout_ms, group, source }: ToolSnapshot) => ({
  name,
  description,
  input: z.looseObject({}),
  effect: effect_class,
  runsIn: runs_in,
  timeoutMs: timeout_ms,
  group,
  source,
});
