import type { AgentDefinition } from '@rondo/client';

/** What the form offers of a tool. */
export type ToolChoice = 'profile' | 'on' | 'approval' | 'off';

type ToolSettings = Exclude<NonNullable<AgentDefinition['tools']>, string[]>;

/** A definition, or the request of a run, with this field, or without it where the value says nothing. An agent keeps its name. */
export function withField<Whole extends object, Name extends keyof Whole>(
  whole: Whole,
  name: Name,
  value: Whole[Name] | undefined,
): Whole {
  const { [name]: _, ...others } = whole;
  const isEmpty = value === undefined || value === '' || (typeof value === 'object' && isEmptyObject(value));
  return (isEmpty && name !== 'name' ? others : { ...whole, [name]: value }) as Whole; // only what it had, or what was given
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
  return setting.require_approval === undefined || setting.require_approval === false ? 'on' : 'approval';
}

/** A list names all tools; an object says how the agent's differ from those of its profile. */
export function withTool(
  tools: AgentDefinition['tools'],
  { name, choice }: { readonly name: string; readonly choice: ToolChoice },
): AgentDefinition['tools'] {
  const { [name]: _, ...others }: ToolSettings = Array.isArray(tools)
    ? Object.fromEntries(tools.map((tool) => [tool, true]))
    : (tools ?? {});
  if (choice === 'profile') return others;
  return { ...others, [name]: choice === 'approval' ? { require_approval: true } : choice === 'on' };
}
