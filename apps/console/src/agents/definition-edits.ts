import type { AgentDefinition, Tool } from '@rondo/client';

/** What the form offers of a tool. */
export type ToolChoice = 'profile' | 'on' | 'approval' | 'off';

type ToolSettings = Exclude<NonNullable<AgentDefinition['tools']>, string[]>;

/**
 * A definition, or the request of a run, with this field, or without it where the value says nothing. An agent keeps its name, and a
 * list of no tools says that there are none.
 */
export function withField<Whole extends object, Name extends keyof Whole>(
  whole: Whole,
  name: Name,
  value: Whole[Name] | undefined,
): Whole {
  const { [name]: _, ...others } = whole;
  const isEmpty = value === undefined || value === '' || (typeof value === 'object' && isEmptyObject(value));
  const isKept = name === 'name' || (name === 'tools' && Array.isArray(value));
  return (isEmpty && !isKept ? others : { ...whole, [name]: value }) as Whole; // only what it had, or what was given
}

const isEmptyObject = (value: object | null): boolean => value !== null && Object.keys(value).length === 0;

/** A part that is an object, such as `limits`, with this member or without it. */
export function withMember<Part extends object>(
  part: Part | undefined,
  name: keyof Part & string,
  value: number | undefined,
): Part {
  const { [name]: _, ...others } = (part ?? {}) as Record<string, unknown>;
  return (value === undefined ? others : { ...others, [name]: value }) as Part; // the same members as before
}

export const lines = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

export function toolChoice(tools: AgentDefinition['tools'], name: string): ToolChoice {
  if (Array.isArray(tools)) return tools.includes(name) ? 'on' : 'off';
  const setting = tools?.[name];
  if (setting === undefined) return 'profile';
  if (typeof setting === 'boolean') return setting ? 'on' : 'off';
  if (setting.enabled === false) return 'off';
  if (setting.require_approval !== undefined && setting.require_approval !== false) return 'approval';
  return setting.enabled === true ? 'on' : 'profile';
}

type KnownTool = Pick<Tool, 'name' | 'group'>;

interface NamedChoice {
  /** Of a tool, or of a group of tools. */
  readonly name: string;
  readonly choice: ToolChoice;
}

/**
 * A list names all tools; an object says how the agent's differ from those of its profile. A list stays one as long as it can say what
 * is chosen. In its place, an object says of each other tool whether it is on: the profile may have tools that the list does not.
 */
export function withTool(
  tools: AgentDefinition['tools'],
  { name, choice }: NamedChoice,
  known: readonly KnownTool[],
): AgentDefinition['tools'] {
  const isGroup = known.some(({ group }) => group === name);
  if (Array.isArray(tools) && !isGroup && (choice === 'on' || choice === 'off')) {
    const others = tools.filter((tool) => tool !== name);
    return choice === 'on' ? [...others, name] : others;
  }
  const { [name]: before, ...others }: ToolSettings = Array.isArray(tools)
    ? toSettings(tools, { name, known })
    : (tools ?? {});
  const setting = toSetting(choice, before);
  return setting === undefined ? others : { ...others, [name]: setting };
}

/** What else is said of the tool, such as how long a call may take, stays. */
function toSetting(choice: ToolChoice, before: ToolSettings[string] = {}): ToolSettings[string] | undefined {
  const { enabled: _, require_approval: __, only: ___, ...rest } = typeof before === 'object' ? before : {};
  if (choice === 'approval') return { ...rest, enabled: true, require_approval: true };
  const hasMore = Object.keys(rest).length > 0;
  if (choice === 'profile') return hasMore ? rest : undefined;
  return hasMore ? { ...rest, enabled: choice === 'on' } : choice === 'on';
}

/** The same tools as the list has, but for those of the named group, if it is one: what is said of a tool wins over its group. */
function toSettings(
  list: readonly string[],
  { name, known }: { readonly name: string; readonly known: readonly KnownTool[] },
): ToolSettings {
  const ofGroup = new Set(known.flatMap((tool) => (tool.group === name ? tool.name : [])));
  const names = [...new Set([...known.map((tool) => tool.name), ...list])].filter((tool) => !ofGroup.has(tool));
  return Object.fromEntries(names.map((tool) => [tool, list.includes(tool)]));
}
