import type { LlmSettings, ProcessorSettings, RunSettings, SettingsRequest } from '@rondo/contract';
import { builtInTools } from '../tools/catalog';
import { type Profile, profiles } from './profiles';

/** A setting that parses but that nothing can honour: which field, and why. */
export interface SettingsProblem {
  readonly field: string;
  readonly message: string;
}

/** What an installation says where nobody else does. */
export interface SettingsDefaults {
  readonly model: string;
  /** Whether a model has tool calls of its own; every model has them where this is left out. */
  readonly hasToolCalls?: (model: string) => boolean;
  /** What a run may spend that says nothing, and what it may ask for at most. */
  readonly budget?: Budget;
  readonly maxBudget?: Budget;
  /** Whether money can be counted for a model; it can where this is left out. */
  readonly hasPrice?: (model: string) => boolean;
}

type Budget = RunSettings['budget'];

/** Lays profile, agent and request over each other; the later part wins, field by field. */
export function effectiveSettings(
  request: SettingsRequest,
  defaults: SettingsDefaults,
): { settings: RunSettings } | { problems: SettingsProblem[] } {
  const name = request.profile ?? 'suna';
  const settings = overlay({ name, profile: profiles[name].settings, request, defaults });
  const problems = [...problemsOf(settings), ...budgetProblems(settings.budget, defaults.maxBudget)];
  return problems.length > 0 ? { problems } : { settings };
}

interface Layers {
  readonly name: RunSettings['profile'];
  readonly profile: Profile['settings'];
  readonly request: SettingsRequest;
  readonly defaults: SettingsDefaults;
}

function overlay({ name, profile, request, defaults }: Layers): RunSettings {
  const { model: agentModel, tools, llm, processor, limits, context, budget, ...identity } = request.agent ?? {};
  const model = request.model ?? agentModel ?? defaults.model;
  return {
    profile: name,
    model,
    agent: { ...profile.agent, ...identity },
    tools: request.tools ?? tools ?? profile.tools,
    llm: [llm, request.llm].reduce<LlmSettings>(overlayLlm, profile.llm),
    processor: {
      ...spokenTo(profile.processor, defaults.hasToolCalls?.(model) ?? true),
      ...withoutAlias(processor),
      ...withoutAlias(request.processor),
    },
    limits: { ...profile.limits, ...defined(limits), ...defined(request.limits) },
    context: overlayContext(profile.context, { ...defined(context), ...defined(request.context) }),
    budget: { ...usualBudget(defaults, model), ...defined(budget), ...defined(request.budget) },
    termination: profile.termination,
  };
}

/** A default in money is none where it could not be counted; the one in tokens always can. */
function usualBudget({ budget = {}, maxBudget = {}, hasPrice = () => true }: SettingsDefaults, model: string): Budget {
  const usd = least(budget.usd, maxBudget.usd);
  const tokens = least(budget.tokens, maxBudget.tokens);
  return { ...(usd !== undefined && hasPrice(model) && { usd }), ...(tokens !== undefined && { tokens }) };
}

const least = (...amounts: readonly (number | undefined)[]): number | undefined => {
  const known = amounts.filter((amount) => amount !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
};

const budgetProblems = (asked: Budget, most: Budget = {}): SettingsProblem[] =>
  (['usd', 'tokens'] as const).flatMap((unit) => {
    const limit = most[unit];
    const isTooMuch = limit !== undefined && (asked[unit] ?? 0) > limit;
    return isTooMuch ? [{ field: `budget.${unit}`, message: `must be at most ${limit} on this installation` }] : [];
  });

/** Who says `top_p` and no temperature wants it to decide: a provider that takes one of the two would drop it. */
function overlayLlm(earlier: LlmSettings, later: LlmSettings = {}): LlmSettings {
  const { temperature, ...others } = earlier;
  const holds = temperature !== undefined && later.top_p === undefined;
  return { ...others, ...(holds && { temperature }), ...later };
}

/** A model without tool calls of its own is told how to write them. */
const spokenTo = (processor: ProcessorSettings, hasToolCalls: boolean): ProcessorSettings =>
  processor.dialect === 'native' && !hasToolCalls ? { ...processor, dialect: 'xml_invoke' } : processor;

type ContextSettings = RunSettings['context'];

/** The first turns that nobody asked to be kept give way to a small `max_turns`. */
function overlayContext(profile: ContextSettings, asked: Partial<ContextSettings>): ContextSettings {
  const context = { ...profile, ...asked };
  return { ...context, keep_first: asked.keep_first ?? Math.min(context.keep_first, mostKept(context)) };
}

/** `head_tail` leaves half of `max_turns`, and the summary is one of them (SM17). */
const mostKept = ({ max_turns }: ContextSettings): number => Math.max(0, Math.floor(max_turns / 2) - 1);

/** What was asked for, without the keys that were left undefined. */
const defined = <T extends object>(part: T | undefined): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(part ?? {}).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

type ProcessorRequest = NonNullable<SettingsRequest['processor']>;

const addingStrategies: Record<
  NonNullable<ProcessorRequest['xml_adding_strategy']>,
  ProcessorSettings['xml_adding_strategy']
> = {
  user_message: 'user_message',
  assistant_message: 'assistant_message',
  inline_edit: 'inline_edit',
  append: 'user_message',
  replace: 'inline_edit',
  xml: 'inline_edit',
};

/** Older names become those that settings show (K6). `max_xml_tool_calls` is one of `max_tool_calls`. */
function withoutAlias(processor: ProcessorRequest = {}) {
  const { max_xml_tool_calls: older, xml_adding_strategy: adding, ...rest } = processor;
  return {
    ...(older !== undefined && { max_tool_calls: older }),
    ...(adding && { xml_adding_strategy: addingStrategies[adding] }),
    ...defined(rest),
  };
}

function problemsOf({ tools, context }: RunSettings): SettingsProblem[] {
  const unknown = tools.filter((name) => !builtInTools.named(name));
  const repeated = tools.filter((name, index) => tools.indexOf(name) !== index);
  return [
    ...unknown.map((name) => ({ field: 'tools', message: `there is no tool named "${name}"` })),
    ...repeated.map((name) => ({ field: 'tools', message: `tool "${name}" is named twice` })),
    ...(context.keep_first > mostKept(context) ? [tooManyKept(context)] : []),
  ];
}

const tooManyKept = (context: ContextSettings): SettingsProblem => ({
  field: 'context.keep_first',
  message: `must be at most ${mostKept(context)} where max_turns is ${context.max_turns}`,
});
