import type { RunSettings, ToolPolicies } from '@rondo/contract';
import type { ToolDefinition } from './define-tool';

type Named = Pick<ToolDefinition, 'name' | 'alias' | 'group'>;
type Policy = ToolPolicies[string];

/** What holds for a tool: its own name wins over that of the tool it stands for, and that one over its group. */
function policyOf(policies: ToolPolicies | undefined, { name, alias, group }: Named): Policy {
  const given = new Map(Object.entries(policies ?? {}));
  const names = [group, ...(alias ? [alias.of] : []), name];
  return Object.assign({}, ...names.map((one) => given.get(one) ?? {})) as Policy; // of policies
}

/** Whether a tool of a server is offered. Of the others the list of the settings says it. */
export const isSwitchedOff = (policies: ToolPolicies | undefined, tool: Named): boolean =>
  policyOf(policies, tool).enabled === false;

/** The tool as the model of a run reads it. It is the same object where nothing differs. */
export function describedAs(policies: ToolPolicies | undefined, tool: ToolDefinition): ToolDefinition {
  const description = policies?.[tool.name]?.description;
  return description === undefined ? tool : { ...tool, description };
}

/** How long a call may take, in milliseconds: never longer than the tool's own limit. */
export function callTimeoutMs(
  { tool_policies, limits }: Pick<RunSettings, 'tool_policies' | 'limits'>,
  tool: ToolDefinition | undefined,
): number {
  const ownS = tool && policyOf(tool_policies, tool).timeout_s;
  const chosenMs = (ownS ?? limits.tool_timeout_s) * 1_000;
  return Math.min(tool?.timeoutMs ?? chosenMs, chosenMs);
}
