import {
  type NewFact,
  type RunSettings,
  type ToolPolicies,
  type CallerTool,
  usualCallerTimeoutS,
} from '@rondo/contract';
import { z } from 'zod';
import { type ToolDefinition, byName } from './define-tool';
import { expandMessage, toolSearch } from './memory.tools';
import { isProgram, mayProgramsCall, runProgram, writeIndex } from './program.tools';
import { type ToolSearch, type ToolSpace, doFit, listServers, usualToolSpace } from './tool-space';

/** The tools of one run. The loop knows no others, so that tools of MCP servers and agents are no special case. */
export interface ToolSet {
  readonly all: readonly ToolDefinition[];
  /** Those that the model is shown from the beginning, in this order. */
  readonly offered: readonly ToolDefinition[];
  /** Those that it may call, too, and is shown once it has found them. Absent: there are none. */
  readonly search?: ToolSearch;
  /** Those that its programs call, and that the model itself does not. Absent: it writes no programs. */
  readonly programs?: readonly ToolDefinition[];
  /** Names its stored snapshot. Absent where none is stored. */
  readonly hash?: string;
  /** What came of connecting to the servers of its tools. Present for the activation that connected to them. */
  readonly servers?: readonly ServerFact[];
  named(name: string): ToolDefinition | undefined;
}

export type ServerFact = Extract<NewFact, { type: 'mcp.connected' | 'mcp.skipped' }>;

interface Unshown {
  /** The names of the tools that are shown once they were found. */
  readonly search?: { readonly tools: readonly string[]; readonly capacity: ToolSpace } | undefined;
  /** The names of the tools that programs call. */
  readonly programs?: readonly string[] | undefined;
}

export function toolSet(
  all: readonly ToolDefinition[],
  offered: readonly string[],
  { search, programs }: Unshown = {},
): ToolSet {
  const known = byName(all);
  const isUsable = ({ alias }: ToolDefinition): boolean => alias === undefined || known.has(alias.of);
  const findUsable = (names: readonly string[]) => names.flatMap((name) => known.get(name) ?? []).filter(isUsable);
  return {
    all,
    offered: findUsable(offered),
    ...(search && { search: { tools: findUsable(search.tools), capacity: search.capacity } }),
    ...(programs && { programs: findUsable(programs) }),
    named: (name) => known.get(name),
  };
}

type ToolSettings = Pick<RunSettings, 'tools' | 'tool_policies' | 'caller_tools'> &
  Partial<Pick<RunSettings, 'termination'>>;

/**
 * A run's tools: all there are, of which its model is offered those that the settings name, and those of the servers that
 * they name: no other server's are in its catalog. Those of its caller are in its settings. Where those of servers need more than
 * the space for them, the model is offered a search for them instead.
 */
export function toToolSet(
  settings: ToolSettings,
  catalog: readonly ToolDefinition[],
  space: ToolSpace = usualToolSpace,
): ToolSet {
  const { tools, tool_policies: policies, caller_tools: given = [] } = settings;
  const ofCaller = given.map(toCallerTool);
  const known = ofCaller.length > 0 ? [...catalog, ...ofCaller] : catalog;
  const all = policies ? known.map((tool) => describeTool(policies, tool)) : known;
  const ofServers = all.filter((tool) => isOfServer(tool) && !isSwitchedOff(policies, tool));
  const offers = (...others: string[]) => withExpandMessage([...tools, ...others, ...ofCaller.map(({ name }) => name)]);
  if (tools.includes(runProgram.name)) return withPrograms(all, offers(...ofServers.map(({ name }) => name)));
  if (!isSearched(settings, ofServers, { ...space, tools: space.tools - offers().length }))
    return toolSet(all, offers(...ofServers.map(({ name }) => name)));

  const offered = [...new Set(offers(toolSearch.name))];
  const capacity = { tools: Math.max(1, space.tools - offered.length), tokens: space.tokens };
  const servers = `Servers, and how many tools they have: ${listServers(ofServers)}.`;
  const isSearch = ({ name }: ToolDefinition) => name === toolSearch.name;
  const naming = all.map((tool) =>
    isSearch(tool) ? { ...tool, description: `${tool.description} ${servers}` } : tool,
  );
  return toolSet(naming, offered, { search: { tools: ofServers.map(({ name }) => name), capacity } });
}

/** The set of a model that writes programs: it calls only what programs cannot call, and is shown an index of the others. */
function withPrograms(all: readonly ToolDefinition[], offered: readonly string[]): ToolSet {
  const usable = toolSet(all, offered).offered;
  const programs = usable.filter(mayProgramsCall);
  const index = writeIndex(programs);
  const indexed = all.map((tool) =>
    isProgram(tool.name) ? { ...tool, description: `${tool.description}\n${index}` } : tool,
  );
  const find = (tools: readonly ToolDefinition[]) => tools.map(({ name }) => name);
  return toolSet(indexed, find(usable.filter((tool) => !mayProgramsCall(tool))), {
    programs: find(programs),
  });
}

/** By the settings, else by the space. A run of a single decision could do nothing with what it has found. */
function isSearched(
  { tools, tool_policies: policies, termination }: ToolSettings,
  ofServers: readonly ToolDefinition[],
  space: ToolSpace,
): boolean {
  if (ofServers.length === 0 || termination === 'single_decision') return false;
  return findPolicy(policies, toolSearch).enabled ?? (tools.includes(toolSearch.name) || !doFit(ofServers, space));
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
function describeTool(policies: ToolPolicies | undefined, tool: ToolDefinition): ToolDefinition {
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

/**
 * The same while the server of the tool reports progress, each report of which begins that time anew. Undefined where reports do
 * not count: a policy that names a time for the tool means it.
 */
export const mostCallMs = (
  { tool_policies }: Pick<RunSettings, 'tool_policies'>,
  tool: ToolDefinition | undefined,
): number | undefined =>
  tool?.source?.kind === 'mcp' && findPolicy(tool_policies, tool).timeout_s === undefined ? tool.timeoutMs : undefined;

const anyArguments = z.looseObject({});
const noParameters = { type: 'object', properties: {} };

/** A tool that the caller runs, as the loop knows it. The caller validates the arguments of its calls. */
export const toCallerTool = (tool: CallerTool): ToolDefinition => ({
  name: tool.name,
  description: tool.description,
  input: anyArguments,
  parameters: tool.parameters ?? noParameters,
  effect: tool.effect_class ?? 'unsafe',
  runsIn: 'caller',
  timeoutMs: (tool.timeout_s ?? usualCallerTimeoutS) * 1_000,
  group: 'caller',
  source: { kind: 'caller' },
});
