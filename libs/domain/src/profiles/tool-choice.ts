import type { SettingsRequest, ToolChanges } from '@rondo/contract';
import { tools as catalog } from '../tools/catalog';
import type { ToolDefinition } from '../tools/define-tool';
import { memoryStoreTools } from '../tools/memory-store.tools';
import { toolSearch } from '../tools/memory.tools';
import type { Profile } from './profiles';

/** What one layer of settings says about tools. */
export type ToolChoice = Pick<SettingsRequest, 'tools' | 'interactive'>;

type ToolProfile = Pick<Profile, 'optionalTools' | 'interaction' | 'settings'>;
type Toggles = Readonly<Record<string, boolean>>;

/**
 * The tools after a layer. A list replaces the earlier one. Then follows what `interactive` means in the profile, and what
 * the layer switches on and off: groups first, so that the name of a tool wins over its group.
 */
export function toolsAfter(
  earlier: readonly string[],
  { tools = {}, interactive }: ToolChoice,
  profile: ToolProfile,
): string[] {
  const list = Array.isArray(tools) ? tools : earlier;
  const interaction = interactive === undefined ? {} : profile.interaction(interactive);
  const steps = [interaction, ...byKind(toToggles(tools))];
  return steps.reduce((chosen, step) => toggleTools(chosen, step, profile), [...list]);
}

/** Names that a layer changes and that are neither a tool nor a group of tools. */
export const unknownChanges = (tools: ToolChoice['tools'], isTool: (name: string) => boolean): string[] =>
  tools === undefined || Array.isArray(tools)
    ? []
    : Object.keys(tools).filter((name) => !isGroup(name) && !isTool(name));

function toToggles(tools: NonNullable<ToolChoice['tools']>): Toggles {
  if (Array.isArray(tools)) return {};
  const switches = Object.entries(tools)
    .filter(([name]) => !isOfServers(name))
    .map(([name, change]) => [name, isOn(change)] as const);
  return Object.fromEntries(switches.flatMap(([name, on]) => (on === undefined ? [] : [[name, on]])));
}

export const isOn = (change: ToolChanges[string]): boolean | undefined =>
  typeof change === 'boolean' ? change : change.enabled;

/** All tools of MCP servers. */
const externalGroup = 'external';
/** All tools of the caller. */
const callerGroup = 'caller';
const groups: ReadonlySet<string> = new Set([...catalog.map(({ group }) => group), externalGroup, callerGroup]);
export const isGroup = (name: string): boolean => groups.has(name);

/** Tools of servers, and whether they are searched, are known when the run begins: they are in no list. */
export const isOfServers = (name: string): boolean =>
  name === externalGroup || name === toolSearch.name || name.includes('__');

/** Whether the layers leave a tool on that is in no list of theirs. Of a layer, the tool's own name wins over its group. */
const isLeftOn = (name: string, group: string, layers: readonly ToolChoice[]): boolean =>
  layers.reduce((before, { tools = {} }) => {
    if (Array.isArray(tools)) return before;
    const changes = [tools[group], tools[name]].map((change) => (change === undefined ? undefined : isOn(change)));
    return changes.findLast((on) => on !== undefined) ?? before;
  }, true);

export const isCallerToolOn = (name: string, layers: readonly ToolChoice[]): boolean =>
  isLeftOn(name, callerGroup, layers);

/** The tools of memory stores that the layers leave on. */
export const listMemoryTools = (layers: readonly ToolChoice[]): readonly ToolDefinition[] =>
  memoryStoreTools.filter(({ name, group }) => isLeftOn(name, group, layers));

function byKind(toggles: Toggles): [Toggles, Toggles] {
  const entries = Object.entries(toggles);
  const [ofGroups, ofTools] = [entries.filter(([name]) => isGroup(name)), entries.filter(([name]) => !isGroup(name))];
  return [Object.fromEntries(ofGroups), Object.fromEntries(ofTools)];
}

function toggleTools(tools: string[], toggles: Toggles, profile: ToolProfile): string[] {
  if (Object.keys(toggles).length === 0) return tools; // the usual layer
  const namesThat = (isOn: boolean) => Object.keys(toggles).filter((name) => toggles[name] === isOn);
  const on = namesThat(true).flatMap((name) => (isGroup(name) ? toolsOfGroup(name, profile) : [name]));
  const off = new Set(namesThat(false));
  const isOff = (name: string): boolean => {
    const tool = catalog.find((one) => one.name === name);
    return off.has(name) || (tool !== undefined && (off.has(tool.group) || off.has(tool.alias?.of ?? name)));
  };
  return [...tools.filter((name) => !isOff(name)), ...on.filter((name) => !tools.includes(name))];
}

/** Those of a group that the profile has, in its own names. */
const toolsOfGroup = (group: string, { settings, optionalTools }: ToolProfile): string[] =>
  [...settings.tools, ...optionalTools].filter((name) => catalog.find((tool) => tool.name === name)?.group === group);
