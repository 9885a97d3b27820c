import type { LlmSettings, RunSettings, SettingsRequest } from '../run-settings';
import { toolNamed } from '../tools/catalog';
import { type Profile, profiles } from './profiles';

/** A setting that parses but that nothing can honour: which field, and why. */
export interface SettingsProblem {
  readonly field: string;
  readonly message: string;
}

/** Lays profile, agent and request over each other; the later part wins, field by field. */
export function effectiveSettings(
  request: SettingsRequest,
  defaults: { model: string },
): { settings: RunSettings } | { problems: SettingsProblem[] } {
  const name = request.profile ?? 'suna';
  const settings = overlay({ name, profile: profiles[name].settings, request, model: defaults.model });
  const problems = problemsOf(settings);
  return problems.length > 0 ? { problems } : { settings };
}

interface Layers {
  readonly name: RunSettings['profile'];
  readonly profile: Profile['settings'];
  readonly request: SettingsRequest;
  readonly model: string;
}

function overlay({ name, profile, request, model }: Layers): RunSettings {
  const { model: agentModel, tools, llm, processor, limits, context, budget, ...identity } = request.agent ?? {};
  return {
    profile: name,
    model: request.model ?? agentModel ?? model,
    agent: { ...profile.agent, ...identity },
    tools: request.tools ?? tools ?? profile.tools,
    llm: [llm, request.llm].reduce<LlmSettings>(overlayLlm, profile.llm),
    processor: { ...profile.processor, ...withoutAlias(processor), ...withoutAlias(request.processor) },
    limits: { ...profile.limits, ...defined(limits), ...defined(request.limits) },
    context: { ...profile.context, ...defined(context), ...defined(request.context) },
    budget: { ...budget, ...request.budget },
    termination: profile.termination,
  };
}

/** Who says `top_p` and no temperature wants it to decide: a provider that takes one of the two would drop it. */
function overlayLlm(earlier: LlmSettings, later: LlmSettings = {}): LlmSettings {
  const { temperature, ...others } = earlier;
  const holds = temperature !== undefined && later.top_p === undefined;
  return { ...others, ...(holds && { temperature }), ...later };
}

/** What was asked for, without the keys that were left undefined. */
const defined = <T extends object>(part: T | undefined): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(part ?? {}).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

/** `max_xml_tool_calls` is an older name of `max_tool_calls`. */
function withoutAlias(processor: SettingsRequest['processor']) {
  const { max_xml_tool_calls: older, ...rest } = processor ?? {};
  return { ...(older !== undefined && { max_tool_calls: older }), ...defined(rest) };
}

function problemsOf({ tools }: RunSettings): SettingsProblem[] {
  const unknown = tools.filter((name) => !toolNamed(name));
  const repeated = tools.filter((name, index) => tools.indexOf(name) !== index);
  return [
    ...unknown.map((name) => ({ field: 'tools', message: `there is no tool named "${name}"` })),
    ...repeated.map((name) => ({ field: 'tools', message: `tool "${name}" is named twice` })),
  ];
}
