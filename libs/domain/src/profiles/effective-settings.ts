import type {
  AccountSettings,
  Fallback,
  LlmSettings,
  McpServer,
  McpServerRequest,
  ProcessorSettings,
  RequestedFallbacks,
  RunSettings,
  SettingsRequest,
} from '@rondo/contract';
import type { ModelFallbacks } from '../models/fallbacks';
import type { ModelAliases } from '../models/model-aliases';
import type { BudgetRaise } from '../run/raise-budget';
import { builtInTools } from '../tools/catalog';
import { toCallerTool, type ToolSet } from '../tools/tool-set';
import type { ToolDefinition } from '../tools/define-tool';
import { approvalProblems, findApprovals } from './approval-choice';
import { type Profile, profiles } from './profiles';
import { withMemory } from './memory-choice';
import { isCallerToolOn, isGroup, toolsAfter, unknownChanges } from './tool-choice';
import { findPolicies, policyProblems } from './tool-policies';

/** A setting that is well-formed but impossible: the field and the reason. */
export interface SettingsProblem {
  readonly field: string;
  readonly message: string;
}

/** The defaults and limits of the deployment. */
export interface SettingsDefaults {
  readonly model: string;
  /** What the account keeps, below its agents. Default: nothing. */
  readonly account?: AccountSettings;
  /** The tools that a run may use. Default: the built-in ones. */
  readonly tools?: Pick<ToolSet, 'named'>;
  /** The full names of models by their aliases. Default: there are none. */
  readonly aliases?: ModelAliases;
  /** The chains of the deployment by the model that they stand in for. Default: there are none. */
  readonly fallbacks?: ModelFallbacks;
  /** Whether a model has native tool calls. Default: every model has. */
  readonly hasToolCalls?: (model: string) => boolean;
  /** The budget of a run that names none. */
  readonly budget?: Budget;
  /** The largest budget that a run may name. */
  readonly maxBudget?: Budget;
  /** Makes a server's headers unreadable for all but executors. Absent: this deployment keeps no secrets. */
  readonly sealServer?: SealServer | undefined;
  /** The servers of the stored agent of the run, unless the request names others. */
  readonly agentServers?: readonly McpServer[] | undefined;
  /** Whether the price of a model is known. Default: every price is. */
  readonly hasPrice?: (model: string) => boolean;
}

type Budget = RunSettings['budget'];

/** Merges profile, account, agent and request; the later part wins, field by field. */
export function effectiveSettings(
  request: SettingsRequest,
  defaults: SettingsDefaults,
): { settings: RunSettings } | { problems: SettingsProblem[] } {
  const name = request.profile ?? defaults.account?.profile ?? 'suna';
  const servers = readServers(request, defaults);
  const overlaid = overlay({ name, profile: profiles[name], request, defaults });
  const fallbacks = readFallbacks(request, overlaid, {
    account: defaults.account?.fallbacks,
    chains: defaults.fallbacks,
    fullName: (model) => fullName(model, defaults),
    hasToolCalls: (model) => defaults.hasToolCalls?.(model) ?? true,
    hasPrice: (model) => defaults.hasPrice?.(model) ?? true,
  });
  const builtIn = defaults.tools ?? builtInTools;
  const callers = readCallerTools(request, {
    ...{ servers: servers.settings.mcp_servers ?? [], builtIn },
    layers: listLayers(request, defaults),
  });
  const tools = overlaid.tools.filter((name) => callers.named(name) === undefined);
  const memory = withMemory({ ...overlaid, tools }, request, listLayers(request, defaults));
  const settings = {
    ...{ ...overlaid, ...memory.settings },
    ...{ ...fallbacks.settings, ...servers.settings, ...callers.settings },
  };
  const known = { named: (tool: string) => builtIn.named(tool) ?? callers.named(tool) };
  const problems = [
    ...servers.problems,
    ...callers.problems,
    ...fallbacks.problems,
    ...memory.problems,
    ...listProblems(settings, known),
    ...changeProblems(request, settings, known),
    ...aliasProblems(request),
    ...policyProblems(request, known),
    ...approvalProblems({ ...request, account: defaults.account }, settings, known),
    ...budgetProblems(settings.budget, defaults.maxBudget),
  ];
  return problems.length > 0 ? { problems } : { settings };
}

interface Overlay {
  readonly name: RunSettings['profile'];
  readonly profile: Profile;
  readonly request: SettingsRequest;
  readonly defaults: SettingsDefaults;
}

type Layer = Omit<SettingsRequest, 'profile' | 'agent'>;

/** What each part says, the earliest first. */
const listLayers = (
  { agent = {}, ...request }: SettingsRequest,
  { account = {} }: Pick<SettingsDefaults, 'account'>,
): readonly Layer[] => [account, agent, request];

function overlay({ name, profile: { settings: profile, ...about }, request, defaults }: Overlay): RunSettings {
  const layers = listLayers(request, defaults);
  const last = <Key extends keyof Layer>(key: Key) => layers.map((layer) => layer[key]).findLast(Boolean);
  const approvals = findApprovals(...layers);
  const policies = findPolicies(...layers);
  const toolProfile = { settings: profile, ...about };
  const model = fullName(last('model') ?? defaults.model, defaults);
  return {
    profile: name,
    model,
    agent: { ...profile.agent, ...toIdentity(request.agent) },
    tools: layers.reduce<string[]>((tools, layer) => toolsAfter(tools, layer, toolProfile), profile.tools),
    llm: layers.map(({ llm }) => llm).reduce<LlmSettings>(overlayLlm, profile.llm),
    processor: layers.reduce(
      (processor, layer) => ({ ...processor, ...withoutAlias(layer.processor) }),
      withSupportedDialect(profile.processor, defaults.hasToolCalls?.(model) ?? true),
    ),
    limits: layers.reduce((limits, layer) => ({ ...limits, ...dropUndefined(layer.limits) }), profile.limits),
    context: overlayContext(profile.context, withFullName(mergeParts(layers.map(({ context }) => context)), defaults)),
    budget: { ...defaultBudget(defaults, model), ...mergeParts(layers.map(({ budget }) => budget)) },
    ...(approvals && { approvals }),
    ...(policies && { tool_policies: policies }),
    ...toSandbox(last('environment'), last('secrets')),
    termination: profile.termination,
  };
}

const toIdentity = ({
  name,
  description,
  task,
  system_prompt,
  directives,
}: NonNullable<SettingsRequest['agent']> = {}) => dropUndefined({ name, description, task, system_prompt, directives });

/** The secret that a repository is cloned with need not be named once more. */
function toSandbox(
  environment: RunSettings['environment'],
  names: readonly string[] = [],
): Pick<RunSettings, 'environment' | 'secrets'> {
  const secret = environment?.repository?.secret;
  const all = [...new Set([...names, ...(secret === undefined ? [] : [secret])])];
  return { ...(environment && { environment }), ...(all.length > 0 && { secrets: all }) };
}

const fullName = (model: string, { aliases }: SettingsDefaults): string => aliases?.get(model) ?? model;

const withFullName = ({ summary_model, ...context }: Partial<ContextSettings>, defaults: SettingsDefaults) => ({
  ...context,
  ...(summary_model !== undefined && { summary_model: fullName(summary_model, defaults) }),
});

/** A model without a known price has no default in money, because it could not be enforced. */
function defaultBudget(
  { budget = {}, maxBudget = {}, hasPrice = () => true }: SettingsDefaults,
  model: string,
): Budget {
  const usd = minimum(budget.usd, maxBudget.usd);
  const tokens = minimum(budget.tokens, maxBudget.tokens);
  return {
    ...(usd !== undefined && hasPrice(model) && { usd }),
    ...(tokens !== undefined && { tokens }),
    ...(budget.on_exceeded && { on_exceeded: budget.on_exceeded }),
  };
}

const minimum = (...amounts: readonly (number | undefined)[]): number | undefined => {
  const known = amounts.filter((amount) => amount !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
};

export const budgetProblems = (requested: BudgetRaise, max: Budget = {}, prefix = 'budget.'): SettingsProblem[] =>
  (['usd', 'tokens'] as const).flatMap((unit) => {
    const limit = max[unit];
    const isTooMuch = limit !== undefined && (requested[unit] ?? 0) > limit;
    return isTooMuch ? [{ field: `${prefix}${unit}`, message: `must be at most ${limit} on this deployment` }] : [];
  });

/** A request with `top_p` and no temperature drops the earlier temperature: some providers accept only one of the two. */
function overlayLlm(earlier: LlmSettings, later: LlmSettings = {}): LlmSettings {
  const { temperature, ...others } = earlier;
  const keepsTemperature = temperature !== undefined && later.top_p === undefined;
  return { ...others, ...(keepsTemperature && { temperature }), ...later };
}

/** A model without native tool calls gets a text dialect. */
const withSupportedDialect = (processor: ProcessorSettings, hasToolCalls: boolean): ProcessorSettings =>
  processor.dialect === 'native' && !hasToolCalls ? { ...processor, dialect: 'xml_invoke' } : processor;

type ContextSettings = RunSettings['context'];

/** A default `keep_first` is reduced to what a small `max_turns` allows; a requested one is not. */
function overlayContext(profile: ContextSettings, requested: Partial<ContextSettings>): ContextSettings {
  const context = { ...profile, ...requested };
  return { ...context, keep_first: requested.keep_first ?? Math.min(context.keep_first, maxKeepFirst(context)) };
}

/** `head_tail` leaves half of `max_turns`, and the summary is one of these turns. */
const maxKeepFirst = ({ max_turns }: ContextSettings): number => Math.max(0, Math.floor(max_turns / 2) - 1);

/** An object with the last value that each field has in these. */
const mergeParts = <T extends object>(parts: readonly (T | undefined)[]) =>
  parts.reduce<ReturnType<typeof dropUndefined<T>>>(
    (earlier, part) => ({ ...earlier, ...dropUndefined(part) }),
    dropUndefined<T>(undefined),
  );

/** An object without its undefined fields. */
const dropUndefined = <T extends object>(part: T | undefined): { [K in keyof T]?: Exclude<T[K], undefined> } =>
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

/** A setting that is given by both of its names has one value. */
const aliasProblems = ({ processor, agent }: SettingsRequest): SettingsProblem[] =>
  Object.entries({ processor, 'agent.processor': agent?.processor }).flatMap(([field, given = {}]) => {
    const { max_tool_calls: calls, max_xml_tool_calls: older } = given;
    const message = 'is another name of max_tool_calls, which has another value';
    return calls === undefined || older === undefined || calls === older
      ? []
      : [{ field: `${field}.max_xml_tool_calls`, message }];
  });

/** Replaces older names of settings and values by the current ones. */
function withoutAlias(processor: ProcessorRequest = {}) {
  const { max_xml_tool_calls: older, xml_adding_strategy: adding, ...rest } = processor;
  return {
    ...(older !== undefined && { max_tool_calls: older }),
    ...(adding && { xml_adding_strategy: addingStrategies[adding] }),
    ...dropUndefined(rest),
  };
}

function listProblems({ tools, context }: RunSettings, known: Pick<ToolSet, 'named'>): SettingsProblem[] {
  const unknown = tools.filter((name) => !known.named(name));
  const repeated = tools.filter((name, index) => tools.indexOf(name) !== index);
  return [
    ...unknown.map((name) => ({ field: 'tools', message: `there is no tool named "${name}"` })),
    ...repeated.map((name) => ({ field: 'tools', message: `tool "${name}" is named twice` })),
    ...(context.keep_first > maxKeepFirst(context) ? [tooManyKept(context)] : []),
  ];
}

/** The tools of a server have its name; which there are is known when the run begins. */
function changeProblems(
  { tools, agent }: SettingsRequest,
  { mcp_servers: servers = [] }: RunSettings,
  known: Pick<ToolSet, 'named'>,
): SettingsProblem[] {
  const isKnown = (tool: string): boolean =>
    known.named(tool) !== undefined || servers.some(({ name }) => tool.startsWith(`${name}__`));
  return [tools, agent?.tools].flatMap((given) =>
    unknownChanges(given, isKnown).map((name) => ({
      field: 'tools',
      message: `there is no tool and no group of tools named "${name}"`,
    })),
  );
}

const tooManyKept = (context: ContextSettings): SettingsProblem => ({
  field: 'context.keep_first',
  message: `must be at most ${maxKeepFirst(context)} where max_turns is ${context.max_turns}`,
});

/** Makes a server's headers unreadable for all but executors. */
type SealServer = (server: McpServerRequest) => McpServer;

interface ServerDefaults {
  /** Absent: there is no way to keep secrets. */
  readonly sealServer?: SealServer | undefined;
  /** Those of the stored agent. */
  readonly agentServers?: readonly McpServer[] | undefined;
}

/** The MCP servers of the request, or those of its agent. */
function readServers(
  { mcp_servers: requested, agent }: SettingsRequest,
  { sealServer: seal, agentServers = [] }: ServerDefaults,
): { settings: Pick<RunSettings, 'mcp_servers'>; problems: { field: string; message: string }[] } {
  const servers = requested ?? agent?.mcp_servers;
  if (!servers) return { settings: agentServers.length > 0 ? { mcp_servers: [...agentServers] } : {}, problems: [] };
  if (servers.length === 0) return { settings: {}, problems: [] };
  const field = requested ? 'mcp_servers' : 'agent.mcp_servers';
  const message = 'cannot be stored: this deployment has no SECRETS_KEY';
  return {
    settings: { mcp_servers: servers.map((server) => seal?.(server) ?? withoutHeaders(server)) },
    problems: servers.flatMap((server, index) =>
      'headers' in server && !seal ? [{ field: `${field}.${index}.headers`, message }] : [],
    ),
  };
}

function withoutHeaders(server: McpServerRequest): McpServer {
  if (server.transport === 'stdio') return server;
  const { headers: _headers, ...rest } = server;
  return rest;
}

interface OtherTools {
  readonly servers: readonly McpServer[];
  readonly builtIn: Pick<ToolSet, 'named'>;
}

interface CallerToolContext extends OtherTools {
  readonly layers: readonly Layer[];
}

interface ChosenCallerTools {
  readonly settings: Pick<RunSettings, 'caller_tools'>;
  readonly problems: { field: string; message: string }[];
  /** All of them, also those that a layer switches off. */
  readonly named: (name: string) => ToolDefinition | undefined;
}

/** The caller's tools of the request, or those of its agent, without those that are switched off. */
function readCallerTools(
  { caller_tools: requested, agent }: SettingsRequest,
  { layers, ...other }: CallerToolContext,
): ChosenCallerTools {
  const field = requested ? 'caller_tools' : 'agent.caller_tools';
  const all = requested ?? agent?.caller_tools ?? [];
  const on = all.filter(({ name }) => isCallerToolOn(name, layers));
  const definitions = new Map(all.map((tool) => [tool.name, toCallerTool(tool)]));
  return {
    settings: on.length > 0 ? { caller_tools: on } : {},
    problems: all.flatMap(({ name }, index) => {
      const message = whyTaken(name, other);
      return message === undefined ? [] : [{ field: `${field}.${index}.name`, message }];
    }),
    named: (name) => definitions.get(name),
  };
}

/** Whose name it is already. Much of what is done for a tool goes by its name, so none has that of another. */
function whyTaken(name: string, { servers, builtIn }: OtherTools): string | undefined {
  if (builtIn.named(name)) return `"${name}" is the name of a built-in tool`;
  if (isGroup(name)) return `"${name}" is the name of a group of tools`;
  const server = servers.find((one) => name.startsWith(`${one.name}__`));
  return server && `names that begin with "${server.name}__" are those of the tools of an MCP server`;
}

interface FallbackChoice {
  /** The chain of the account. */
  readonly account: RequestedFallbacks | undefined;
  /** The chains of the deployment. */
  readonly chains: ModelFallbacks | undefined;
  readonly fullName: (model: string) => string;
  readonly hasToolCalls: (model: string) => boolean;
  readonly hasPrice: (model: string) => boolean;
}

/**
 * The chain of the request, else of its agent, else of the account, else of the deployment for this model. What cannot stand
 * in is refused where a request or its agent names it, and left out of the other chains, which are made for many runs.
 */
function readFallbacks(
  { fallbacks: requested, agent }: SettingsRequest,
  settings: RunSettings,
  choice: FallbackChoice,
): { settings: Pick<RunSettings, 'fallbacks'>; problems: { field: string; message: string }[] } {
  const field = requested ? 'fallbacks' : 'agent.fallbacks';
  const named = requested ?? agent?.fallbacks;
  const chain = (named ?? choice.account ?? choice.chains?.get(settings.model) ?? []).map((one) =>
    toFallback(one, choice),
  );
  const lacks = chain.map((one, index) => findLack(one, { before: chain.slice(0, index), settings, choice }));
  const problems = lacks.flatMap((message, index) =>
    named && message !== undefined ? [{ field: `${field}.${index}`, message }] : [],
  );
  const usable = chain.filter((_, index) => lacks[index] === undefined);
  return { settings: usable.length > 0 ? { fallbacks: usable } : {}, problems };
}

function toFallback(one: RequestedFallbacks[number], { fullName }: FallbackChoice): Fallback {
  if (typeof one === 'string') return { model: fullName(one) };
  const on = one.on?.map((cause) => (cause === 'bad_request' ? 'invalid_request' : cause));
  return { model: fullName(one.model), ...(on && { on: [...new Set(on)] }) };
}

interface Surroundings {
  readonly before: readonly Fallback[];
  readonly settings: RunSettings;
  readonly choice: FallbackChoice;
}

function findLack({ model }: Fallback, { before, settings, choice }: Surroundings): string | undefined {
  if (model === settings.model) return 'is the model that it stands in for';
  if (before.some((one) => one.model === model)) return 'is named twice';
  if (settings.processor.dialect === 'native' && !choice.hasToolCalls(model))
    return `${model} has no tool calls, and the dialect of the run is native`;
  return settings.budget.usd !== undefined && !choice.hasPrice(model)
    ? `the price of ${model} is not known, so budget.usd could not be enforced`
    : undefined;
}
