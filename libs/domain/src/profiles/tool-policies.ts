import type { RunSettings, SettingsRequest, ToolChanges, ToolPolicies } from '@rondo/contract';
import type { ToolDefinition } from '../tools/define-tool';
import type { ToolSet } from '../tools/tool-set';
import { isGroup, isOfServers, isOn } from './tool-choice';

type Layer = Pick<SettingsRequest, 'tools'>;
type Policy = ToolPolicies[string];

/** What the layers say of tools besides which of ours are offered. A later one wins, field by field. */
export function findPolicies(...layers: readonly Layer[]): RunSettings['tool_policies'] {
  const policies = new Map<string, Policy>();
  for (const [name, change] of layers.flatMap(listChanges)) {
    const policy = { ...policies.get(name), ...policyIn(name, change) };
    if (Object.keys(policy).length > 0) policies.set(name, policy);
  }
  return policies.size === 0 ? undefined : Object.fromEntries(policies);
}

const listChanges = ({ tools }: Layer): [string, ToolChanges[string]][] =>
  tools === undefined || Array.isArray(tools) ? [] : Object.entries(tools);

function policyIn(name: string, change: ToolChanges[string]): Policy {
  const enabled = isOfServers(name) ? isOn(change) : undefined;
  const { description, timeout_s } = typeof change === 'boolean' ? {} : change;
  return {
    ...(enabled !== undefined && { enabled }),
    ...(description !== undefined && { description }),
    ...(timeout_s !== undefined && { timeout_s }),
  };
}

/** What cannot be: a description of many tools, and a time beyond the tool's own limit. */
export function policyProblems(
  { tools, agent }: Pick<SettingsRequest, 'tools' | 'agent'>,
  known: Pick<ToolSet, 'named'>,
): { field: string; message: string }[] {
  const layers: [string, Layer][] = [
    ['tools', { tools }],
    ['agent.tools', { tools: agent?.tools }],
  ];
  return layers.flatMap(([field, layer]) =>
    listChanges(layer).flatMap(([name, change]) =>
      typeof change === 'boolean' ? [] : listProblems(`${field}.${name}`, { name, change, known }),
    ),
  );
}

const hasOwnTime = ({ runsIn }: ToolDefinition): string =>
  runsIn === 'caller' ? 'is said in caller_tools' : 'has no use: no executor answers this tool';

interface GivenPolicy {
  readonly name: string;
  readonly change: Exclude<ToolChanges[string], boolean>;
  readonly known: Pick<ToolSet, 'named'>;
}

function listProblems(field: string, { name, change, known }: GivenPolicy): { field: string; message: string }[] {
  const { description, timeout_s = 0 } = change;
  const tool = known.named(name);
  const longestS = (tool?.timeoutMs ?? Infinity) / 1_000;
  return [
    ...(description !== undefined && isGroup(name)
      ? [{ field: `${field}.description`, message: 'describes one tool: name it, not its group' }]
      : []),
    ...(tool && tool.runsIn !== 'executor' && timeout_s > 0
      ? [{ field: `${field}.timeout_s`, message: hasOwnTime(tool) }]
      : []),
    ...(tool?.runsIn === 'executor' && timeout_s > longestS
      ? [{ field: `${field}.timeout_s`, message: `must be at most ${longestS}, the limit of the tool` }]
      : []),
  ];
}
