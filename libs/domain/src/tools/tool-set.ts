import type { NewFact, RunSettings, ToolPolicies } from '@rondo/contract';
import { memoize } from '../memoize';
import { toCallerTool } from './caller.tools';
import type { ToolDefinition } from './define-tool';
import { expandMessage } from './memory.tools';

/** The tools of one run. The loop knows no others, so that tools of MCP servers and agents are no special case. */
export interface ToolSet {
  readonly all: readonly ToolDefinition[];
  /** Those that the model may call, in the order in which it is shown them. */
  readonly offered: readonly ToolDefinition[];
  /** Names its stored snapshot. Absent where none is stored. */
  readonly hash?: string;
  /** What came of connecting to the servers of its tools. Present for the activation that connected to them. */
  readonly servers?: readonly ServerFact[];
  named(name: string): ToolDefinition | undefined;
}

export type ServerFact = Extract<NewFact, { type: 'mcp.connected' | 'mcp.skipped' }>;

const listNames = memoize(
  (tools: readonly ToolDefinition[]): ReadonlyMap<string, ToolDefinition> =>
    new Map(tools.map((tool) => [tool.name, tool])),
);

export function toolSet(all: readonly ToolDefinition[], offered: readonly string[]): ToolSet {
  const byName = listNames(all);
  const isUsable = ({ alias }: ToolDefinition): boolean => alias === undefined || byName.has(alias.of);
  const usable = offered.flatMap((name) => byName.get(name) ?? []).filter(isUsable);
  return { all, offered: usable, named: (name) => byName.get(name) };
}

type ToolSettings = Pick<RunSettings, 'tools' | 'tool_policies' | 'caller_tools'>;

/**
 * A run's tools: all there are, of which its model is offered those that the settings name, and those of the servers that
 * they name: no other server's are in its catalog. Those of its caller are in its settings.
 */
export function toToolSet(
  { tools, tool_policies: policies, caller_tools: given = [] }: ToolSettings,
  catalog: readonly ToolDefinition[],
): ToolSet {
  const ofServers = catalog.filter((tool) => isOfServer(tool) && !isSwitchedOff(policies, tool));
  const ofCaller = given.map(toCallerTool);
  const offered = withExpandMessage([...tools, ...[...ofServers, ...ofCaller].map(({ name }) => name)]);
  const all = ofCaller.length > 0 ? [...catalog, ...ofCaller] : catalog;
  return toolSet(policies ? all.map((tool) => describedAs(policies, tool)) : all, offered);
}

const isOfServer = ({ source }: ToolDefinition): boolean => source?.kind === 'mcp';

/** Any message may be shortened in the context, and then names the tool that shows it. A run without tools has none. */
const withExpandMessage = (tools: readonly string[]): readonly string[] =>
  tools.length === 0 || tools.includes(expandMessage.name) ? tools : [...tools, expandMessage.name];

type Named = Pick<ToolDefinition, 'name' | 'alias' | 'group'>;
type Policy = ToolPolicies[string];

/** What holds for a tool: its own name wins over that of the tool it stands for, and that one over its group. */
function findPolicy(policies: ToolPolicies | undefined, { name, alias, group }: Named): Policy {
  const given = new Map(Object.entries(policies ?? {}));
  const names = [group, ...(alias ? [alias.of] : []), name];
  return Object.assign({}, ...names.map((one) => given.get(one) ?? {})) as Policy; // of policies
}

/** Whether a tool of a server is offered. Of the others the list of the settings says it. */
const isSwitchedOff = (policies: ToolPolicies | undefined, tool: Named): boolean =>
  findPolicy(policies, tool).enabled === false;

/** The tool as the model of a run reads it. It is the same object where nothing differs. */
function describedAs(policies: ToolPolicies | undefined, tool: ToolDefinition): ToolDefinition {
  const description = policies?.[tool.name]?.description;
  return description === undefined ? tool : { ...tool, description };
}

/** How long a call may take, in milliseconds: never longer than the tool's own limit. */
export function callTimeoutMs(
  { tool_policies, limits }: Pick<RunSettings, 'tool_policies' | 'limits'>,
  tool: ToolDefinition | undefined,
): number {
  const ownS = tool && findPolicy(tool_policies, tool).timeout_s;
  const chosenMs = (ownS ?? limits.tool_timeout_s) * 1_000;
  return Math.min(tool?.timeoutMs ?? chosenMs, chosenMs);
}
