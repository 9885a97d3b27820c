import { type LlmSettings, type ModelPrice, extraBody, jsonText } from '@rondo/contract';
import { z } from 'zod';
import { readPrices, withPrices } from './declared-prices';
import { whyNoDemoModel } from './demo-models';
import { type ModelFacts, findFacts, knownModels, modelFacts } from './model-facts';
import type { PaceLimits } from './provider-pace';
import { type CallSize, leastInputRate, mostCost, priceAt } from './model-price';
import { type ProfileOverride, profileOverride, rulesOfAnyServer } from './profile-override';

const providerName = z.string().regex(/^[a-z0-9_-]+$/, 'must be lower-case letters, digits, "-" or "_"');
const providerKind = z.enum(['openai', 'azure', 'anthropic', 'bedrock', 'vertex']);

/** Kinds whose address follows from a region. */
const regional: ReadonlySet<string> = new Set(['bedrock', 'vertex']);

/** A configured provider: its protocol, address and key. */
export interface ProviderSettings {
  readonly name: string;
  readonly kind: z.infer<typeof providerKind>;
  readonly baseUrl?: string;
  readonly apiKey: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Which of OpenAI's two APIs to use. Undefined: the one that the request needs. */
  readonly api?: 'chat' | 'responses' | undefined;
  readonly cloud?: CloudSettings;
  /** What differs from the profile of its kind of server. */
  readonly profile?: ProfileOverride | undefined;
  /** Parameters of every request to it, below those of the run. */
  readonly extraBody?: LlmSettings['extra_body'];
  /** Whether it can stream replies. Default: true. */
  readonly streams?: boolean;
  /** What its key may use per minute, by all processes together. Default: what its replies and refusals say. */
  readonly pace?: PaceLimits;
  /** How long it may take to begin a reply. Default: that of the deployment. */
  readonly timeoutMs?: number;
  /** Whether its models have native tool calls, unless a model declares it itself. Default: true. */
  readonly toolCalls?: boolean;
  readonly models: readonly ModelFacts[];
  /** Why it has no such model, for people; undefined if it has. Default: any name may be one. */
  readonly whyNoModel?: (id: string) => string | undefined;
}

/** What the clouds want to know beside a key. */
export interface CloudSettings {
  /** Azure: the version of its API, and the deployment, if it is not named like the model. */
  readonly apiVersion?: string | undefined;
  readonly deployment?: string | undefined;
  /** Bedrock and Vertex. */
  readonly region?: string | undefined;
  /** Vertex: the id of the project. */
  readonly project?: string | undefined;
  /** Bedrock: AWS keys. */
  readonly accessKey?: string | undefined;
  readonly secretKey?: string | undefined;
  readonly sessionToken?: string | undefined;
}

/** A known provider that is not configured. `reason` says what to configure. */
export interface AbsentProvider {
  readonly name: string;
  readonly reason: string;
}

export interface ModelProviders {
  readonly providers: readonly ProviderSettings[];
  readonly absent: readonly AbsentProvider[];
}

/** Servers with the API of Anthropic differ in less, and take a PDF as a block or not at all. */
const isForAnyServer = (profile: ProfileOverride | undefined): boolean =>
  profile === undefined ||
  (profile.like === undefined &&
    profile.rules.documents !== 'image' &&
    Object.keys(profile.rules).every((rule) => rulesOfAnyServer.has(rule)));

/** One entry of MODEL_PROVIDERS. The key itself stays in the variable that the entry names. */
const declaredProvider = z
  .strictObject({
    name: providerName,
    kind: providerKind.default('openai'),
    /** Not of a request: paths are added to it. May have a query, which stays behind the path. */
    base_url: z
      .url({ protocol: /^https?$/ })
      .refine((url) => !/\/(?:chat\/completions|responses|messages)\/?(?:\?|$)/.test(url), {
        message: 'must end before the path of a request, such as "/chat/completions"',
      })
      .optional(),
    /** OpenAI's API that the server speaks. */
    api: z.enum(['chat', 'responses']).optional(),
    api_version: z.string().min(1).optional(),
    deployment: z.string().min(1).optional(),
    region: z.string().min(1).optional(),
    project: z.string().min(1).optional(),
    access_key_variable: z.string().min(1).optional(),
    secret_key_variable: z.string().min(1).optional(),
    session_token_variable: z.string().min(1).optional(),
    /** Absent for a server without authentication. */
    api_key_variable: z.string().min(1).optional(),
    headers: z.record(z.string(), z.string()).default({}),
    tool_calls: z.boolean().default(true),
    /** False for a server that sends only whole replies. */
    streaming: z.boolean().default(true),
    /** What the key may use per minute, by all processes together. */
    requests_per_minute: z.number().int().positive().optional(),
    tokens_per_minute: z.number().int().positive().optional(),
    /** Seconds until the first byte of a reply. */
    timeout_s: z.number().positive().max(3_600).optional(),
    profile: profileOverride.optional(),
    extra_body: extraBody.optional(),
    models: z.array(modelFacts).default([]),
  })
  .refine(({ kind, streaming }) => streaming || kind === 'openai' || kind === 'azure', {
    path: ['streaming'],
    message: 'can be false for servers of the kinds "openai" and "azure" only',
  })
  .refine(({ kind, profile }) => kind === 'openai' || kind === 'azure' || isForAnyServer(profile), {
    path: ['profile'],
    message: 'has only `text_only`, `documents` as "file" or "none", and `too_long` for servers of this kind',
  })
  .refine(({ kind, base_url }) => base_url !== undefined || regional.has(kind), {
    path: ['base_url'],
    message: 'is required, except for the kinds "bedrock" and "vertex"',
  })
  .refine(({ kind, project }) => kind !== 'vertex' || project !== undefined, {
    path: ['project'],
    message: 'is required for the kind "vertex"',
  })
  .refine(
    ({ access_key_variable: key, secret_key_variable: secret }) => (key === undefined) === (secret === undefined),
    {
      path: ['secret_key_variable'],
      message: 'belongs to "access_key_variable": name both or neither',
    },
  );

type DeclaredProvider = z.infer<typeof declaredProvider>;

export const declaredProviders = jsonText.pipe(z.array(declaredProvider));

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The providers that these variables configure. The variables are values of the caller: OPENAI_API_KEY,
 * OPENAI_BASE_URL, ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, DEMO_MODEL_URL, MODEL_PROVIDERS (a JSON list of further
 * servers), the key variables that the list names, and MODEL_PRICES. Throws if MODEL_PROVIDERS or MODEL_PRICES is invalid.
 */
export function readProviders(variables: Variables): ModelProviders {
  const found = [
    official('anthropic', variables),
    official('openai', variables),
    ...demoProviders(variables['DEMO_MODEL_URL']),
    ...readDeclared(variables),
  ];
  const byName = new Map(found.map((provider) => [provider.name, provider]));
  const providers = [...byName.values()];
  const prices = readPrices(variables['MODEL_PRICES']);
  return {
    providers: providers.filter((provider) => 'apiKey' in provider).map((provider) => withPrices(provider, prices)),
    absent: providers.filter((provider) => 'reason' in provider),
  };
}

function official(name: 'anthropic' | 'openai', variables: Variables): ProviderSettings | AbsentProvider {
  const prefix = name.toUpperCase();
  const apiKey = variables[`${prefix}_API_KEY`];
  const baseUrl = variables[`${prefix}_BASE_URL`];
  if (!apiKey) return missing(name, `${prefix}_API_KEY`);
  return { name, kind: name, apiKey, ...(baseUrl && { baseUrl }), headers: {}, models: [] };
}

/** The demo server has both protocols, so that both can be used without a key. */
function demoProviders(url: string | undefined): (ProviderSettings | AbsentProvider)[] {
  if (!url) return ['demo', 'demo-anthropic'].map((name) => missing(name, 'DEMO_MODEL_URL'));
  const root = url.replace(/\/+$/, '');
  const open = { apiKey: 'demo', headers: {}, models: [], whyNoModel: whyNoDemoModel };
  return [
    { name: 'demo', kind: 'openai', baseUrl: `${root}/v1`, ...open },
    { name: 'demo-anthropic', kind: 'anthropic', baseUrl: root, ...open },
  ];
}

function readDeclared(variables: Variables): (ProviderSettings | AbsentProvider)[] {
  const text = variables['MODEL_PROVIDERS'];
  if (!text) return [];
  const parsed = declaredProviders.safeParse(text);
  if (!parsed.success) throw new Error(`MODEL_PROVIDERS cannot be understood:\n${z.prettifyError(parsed.error)}`);

  return parsed.data.map((one) => toProvider(one, variables));
}

function toProvider(one: DeclaredProvider, variables: Variables): ProviderSettings | AbsentProvider {
  const { name, api_key_variable, access_key_variable, secret_key_variable, base_url } = one;
  const needed = [api_key_variable, access_key_variable, secret_key_variable];
  const lacking = needed.find((variable) => variable !== undefined && !variables[variable]);
  if (lacking !== undefined) return missing(name, lacking);
  const { headers, tool_calls, streaming, timeout_s, models, api, profile, extra_body } = one;
  return {
    name,
    kind: readKind(one),
    ...(base_url !== undefined && { baseUrl: base_url }),
    apiKey: readValue(api_key_variable, variables) ?? 'none',
    headers,
    ...(api && { api }),
    ...(profile && { profile }),
    ...(extra_body && { extraBody: extra_body }),
    ...readCloud(one, variables),
    toolCalls: tool_calls,
    streams: streaming,
    pace: { requestsPerMinute: one.requests_per_minute, tokensPerMinute: one.tokens_per_minute },
    ...(timeout_s && { timeoutMs: timeout_s * 1_000 }),
    models,
  };
}

/** Only Azure's URLs name the version of an API in their query. */
const readKind = ({ kind, base_url }: DeclaredProvider): ProviderSettings['kind'] =>
  kind === 'openai' && base_url !== undefined && new URL(base_url).searchParams.has('api-version') ? 'azure' : kind;

const readValue = (variable: string | undefined, variables: Variables): string | undefined =>
  variable === undefined ? undefined : variables[variable];

function readCloud(one: DeclaredProvider, variables: Variables): { cloud?: CloudSettings } {
  const cloud: CloudSettings = {
    apiVersion: one.api_version,
    deployment: one.deployment,
    region: one.region,
    project: one.project,
    accessKey: readValue(one.access_key_variable, variables),
    secretKey: readValue(one.secret_key_variable, variables),
    sessionToken: readValue(one.session_token_variable, variables),
  };
  return Object.values(cloud).some((value) => value !== undefined) ? { cloud } : {};
}

const missing = (name: string, variable: string): AbsentProvider => ({
  name,
  reason: `The model provider "${name}" is not configured: set ${variable} to use ${name}/… models.`,
});

/** The two parts of `provider/model`; everything after the first slash belongs to the model. */
export function splitModelName(name: string): { provider: string; id: string } {
  const slash = name.indexOf('/');
  return { provider: name.slice(0, Math.max(slash, 0)), id: name.slice(slash + 1) };
}

/** Why a model cannot be used, for people; undefined if it can. */
export function whyNotConfigured(model: string, { providers, absent }: ModelProviders): string | undefined {
  const { provider, id } = splitModelName(model);
  if (provider === '' || id === '') return `"${model}" is not a model name: it must look like provider/model.`;
  const configured = providers.find(({ name }) => name === provider);
  if (configured) return whyNotServed(id, configured);

  const names = providers.map(({ name }) => name).join(', ') || 'none';
  return (
    absent.find(({ name }) => name === provider)?.reason ??
    `There is no model provider "${provider}". Configured: ${names}.`
  );
}

function whyNotServed(id: string, { name, whyNoModel }: ProviderSettings): string | undefined {
  const reason = whyNoModel?.(id);
  return reason === undefined ? undefined : `There is no model "${name}/${id}". ${reason}`;
}

/** Whether a model has native tool calls, as declared for it or its provider. Default: true, because most models have. */
export function hasToolCalls(model: string, { providers }: Pick<ModelProviders, 'providers'>): boolean {
  const { provider: name, id } = splitModelName(model);
  const provider = providers.find((one) => one.name === name);
  return (provider && (findFacts(provider, id)?.tool_calls ?? provider.toolCalls)) ?? true;
}

type Providers = Pick<ModelProviders, 'providers'>;

/** What the configuration allows the key of each provider. */
export const paceLimits = ({ providers }: Providers): ReadonlyMap<string, PaceLimits> =>
  new Map(providers.flatMap(({ name, pace }) => (pace ? [[name, pace]] : [])));

/** What is declared or known about a model, `provider/model`. */
export function factsOfModel(model: string, { providers }: Providers): ModelFacts | undefined {
  const { provider: name, id } = splitModelName(model);
  const provider = providers.find((one) => one.name === name);
  return provider && findFacts(provider, id);
}

/** The declared or known price of a model at a time (milliseconds since 1970). */
export function findPrice(model: string, { providers }: Providers, atMs: number): ModelPrice | undefined {
  const { provider: name, id } = splitModelName(model);
  const provider = providers.find((one) => one.name === name);
  const facts = provider && findFacts(provider, id);
  return facts && priceAt(facts, atMs);
}

/** USD per input token at the lowest rate at that time. */
export function leastInputPrice(model: string, providers: Providers, atMs: number): number | undefined {
  const price = findPrice(model, providers, atMs);
  return price && leastInputRate(price);
}

/** What a reply is taken to have at most where only the model bounds its length, which may be that of a book. */
const usualReplyTokens = 8_192;

/**
 * The most that a call at that time can cost, in USD, if a reply of unlimited length has at most 8,192 tokens, and what is to
 * be settled before it. Undefined: the price is not known.
 */
export function mostCallCost(
  { model, inputTokens, maxOutputTokens, unsettledUsd, waitsLong = false }: CallSize,
  { providers }: Providers,
  atMs: number,
): number | undefined {
  const { provider: name, id } = splitModelName(model);
  const provider = providers.find((one) => one.name === name);
  const facts = provider && findFacts(provider, id);
  const price = facts && priceAt(facts, atMs);
  const output = Math.min(maxOutputTokens ?? usualReplyTokens, facts?.max_output_tokens ?? Infinity);
  return price && mostCost(price, { input: inputTokens, output, waitsLong }) + unsettledUsd;
}

/** A model as the API lists it. Other models of a configured provider can be used, too. */
export interface ListedModel {
  readonly id: string;
  readonly provider: string;
  readonly context_window: number | null;
  readonly max_output_tokens: number | null;
  /** The price at the time of the list. */
  readonly price: ModelPrice | null;
}

/** The declared and the known models of every configured provider. */
export function listModels({ providers }: Providers, atMs: number): ListedModel[] {
  return providers.flatMap((provider) => {
    const ids = [...provider.models, ...(knownModels.get(provider.name) ?? [])].map(({ id }) => id);
    return [...new Set(ids)].map((id) => toListed(provider, id, atMs));
  });
}

function toListed(provider: ProviderSettings, id: string, atMs: number): ListedModel {
  const facts = findFacts(provider, id);
  return {
    id: `${provider.name}/${id}`,
    provider: provider.name,
    context_window: facts?.context_window ?? null,
    max_output_tokens: facts?.max_output_tokens ?? null,
    price: (facts && priceAt(facts, atMs)) ?? null,
  };
}

const ofProvider = [
  { provider: 'openai', model: 'openai/gpt-5.1' }, // later ones take no tools while they reason
  { provider: 'anthropic', model: 'anthropic/claude-sonnet-5' },
];

/**
 * The default model of a deployment that names none: a real one as soon as OpenAI or Anthropic is configured. Of another server in
 * the place of one of them it is the first model that is declared for it. Without that, the server is asked for the usual one, and
 * says itself that it lacks it: a demo never answers in the place of a configured provider.
 */
export function usualModel({ providers }: Pick<ModelProviders, 'providers'>): string {
  const models = ofProvider.flatMap(({ provider, model }) => {
    const configured = providers.find(({ name }) => name === provider);
    if (!configured) return [];
    const [declared] = configured.models;
    return [declared === undefined ? model : `${provider}/${declared.id}`];
  });
  return models[0] ?? 'demo/coder';
}
