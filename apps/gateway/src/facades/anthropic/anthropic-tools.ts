import type { AgentDefinition, CallerTool } from '@rondo/contract';
import type { AnthropicTool } from '@rondo/contract/api';
import { tools as catalog } from '@rondo/domain';
import { refuse } from './anthropic-errors';

/** Tools of the client's toolset, and those that stand for them here: what is said of one is said of the other. */
const names = {
  bash: 'execute_command',
  edit: 'str_replace',
  read: 'read_file',
  write: 'full_file_rewrite',
  glob: 'list_files',
  grep: 'search_files',
  web_fetch: 'scrape_webpage',
  web_search: 'web_search',
} as const;
type AnthropicName = keyof typeof names;
const anthropicNames = Object.keys(names) as AnthropicName[]; // the keys of the object above

const ours = new Map<string, AnthropicName>(anthropicNames.map((name) => [names[name], name]));

/** Its own name for a tool that the client does not know. */
export const toAnthropicToolName = (name: string): string => ours.get(name) ?? name;

const groups = [...new Set(catalog.map(({ group }) => group))];

type Toolset = Extract<AnthropicTool, { type: 'agent_toolset_20260401' }>;

/** The tools of a definition. Only those that are named are offered. */
export function toTools(given: readonly AnthropicTool[]): Pick<AgentDefinition, 'tools' | 'caller_tools'> {
  const tools: NonNullable<AgentDefinition['tools']> & Record<string, unknown> = Object.fromEntries(
    groups.map((group) => [group, false]),
  );
  const custom: CallerTool[] = [];
  for (const [index, tool] of given.entries()) {
    if (tool.type === 'mcp_toolset') throw refuse(`tools.${index}`, 'tools of MCP servers');
    if (tool.type === 'custom') custom.push(toCallerTool(tool));
    else Object.assign(tools, toChoices(tool, `tools.${index}`));
  }
  return { tools, caller_tools: custom };
}

type Custom = Extract<AnthropicTool, { type: 'custom' }>;

const toCallerTool = ({ name, description, input_schema: parameters }: Custom): CallerTool => ({
  name,
  description,
  parameters,
  effect_class: 'idempotent', // its client sends a result again rather than none
});

function toChoices({ default_config: usual, configs = [] }: Toolset, field: string): Record<string, unknown> {
  const policies = [usual, ...configs].map((config) => config?.permission_policy?.type);
  if (policies.includes('auto')) throw refuse(field, 'permission_policy "auto"');
  const choices = anthropicNames.map((name) => {
    const own = configs.find((config) => config.name === name);
    const enabled = own?.enabled ?? usual?.enabled ?? true;
    const policy = own?.permission_policy?.type ?? usual?.permission_policy?.type ?? 'always_allow';
    if (!enabled) return [names[name], false] as const;
    return [names[name], policy === 'always_ask' ? { enabled, require_approval: true, only: true } : true] as const;
  });
  return Object.fromEntries<unknown>(choices);
}

const allow = { type: 'always_allow' } as const;
const ask = { type: 'always_ask' } as const;

/** The tools of a definition as its client reads them, with every default written out. */
export function readTools({ tools, caller_tools: custom = [] }: Pick<AgentDefinition, 'tools' | 'caller_tools'>) {
  const shown = custom.map(({ name, description, parameters }) => ({
    type: 'custom' as const,
    name,
    description,
    input_schema: { ...parameters, type: 'object' as const },
  }));
  const configs = anthropicNames.map((name) => readChoice(name, tools));
  if (configs.every(({ enabled }) => !enabled)) return shown;
  const default_config = { enabled: true, permission_policy: allow };
  const differing = configs.filter(({ enabled, permission_policy: { type } }) => !enabled || type === 'always_ask');
  return [{ type: 'agent_toolset_20260401' as const, default_config, configs: differing }, ...shown];
}

function readChoice(name: AnthropicName, tools: AgentDefinition['tools']) {
  const about = { type: name, name } as const;
  if (tools === undefined) return { ...about, enabled: true, permission_policy: allow };
  if (Array.isArray(tools)) return { ...about, enabled: tools.includes(names[name]), permission_policy: allow };
  const group = catalog.find((tool) => tool.name === names[name])?.group ?? '';
  const choice = tools[names[name]] ?? tools[group] ?? true;
  if (typeof choice === 'boolean') return { ...about, enabled: choice, permission_policy: allow };
  const needsApproval = choice.require_approval !== undefined && choice.require_approval !== false;
  return { ...about, enabled: choice.enabled ?? true, permission_policy: needsApproval ? ask : allow };
}
