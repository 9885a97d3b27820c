import type { ModelErrorCode } from '@rondo/contract';
import {
  type AbsentProvider,
  type Model,
  type ModelChunk,
  type ModelProviders,
  type ModelRequest,
  type ProviderPace,
  type ProviderSettings,
  findFacts,
  priceAt,
  splitModelName,
  whyNotConfigured,
} from '@rondo/domain';
import { AnthropicProtocol } from './anthropic/anthropic-protocol';
import { createAnthropicClient, createBedrockClient, createVertexClient } from './clients/anthropic-client';
import { createAzureClient, createOpenAiClient } from './clients/openai-client';
import type { ProviderClient } from './clients/provider-client';
import { type Fetch, type ProxySettings, createFetch } from './http/lean-fetch';
import { OpenAiProtocol } from './openai/openai-protocol';
import { ReplyAttempt } from './reply-attempt';
import { RequestPace } from './request-pace';
import { EitherProtocol } from './responses/either-protocol';
import { ResponsesProtocol } from './responses/responses-protocol';
import { type RetryPolicy, RetryingModel, defaultRetries, redactor } from './retrying-model';
import { type Timeouts, defaultTimeouts } from './silence-timer';
import type { WireProtocol } from './wire-protocol';

export interface ModelsConfig {
  readonly providers: readonly ProviderSettings[];
  readonly absent?: readonly AbsentProvider[];
  readonly timeouts?: Partial<Timeouts>;
  readonly retries?: Partial<RetryPolicy>;
  readonly proxies?: ProxySettings;
  /** Absent: requests are sent as they come. */
  readonly pace?: ProviderPace;
}

/** All models of all configured providers behind one interface: the model name of a request selects the provider. */
export type Models = Model;

/** Immutable after creation: what differs between two requests is in the requests (I10). */
export function createModels(config: ModelsConfig): Models {
  const known: ModelProviders = { providers: config.providers, absent: config.absent ?? [] };
  const models = new Map(config.providers.map((provider) => [provider.name, createModel(provider, config)]));
  return {
    stream(request, signal) {
      const model = models.get(splitModelName(request.model).provider);
      const reason = whyNotConfigured(request.model, known);
      return model && reason === undefined ? model.stream(request, signal) : refuseModel(request, known, reason);
    },
  };
}

/** The models of one provider. `fetch` sends their requests. */
export function createModel(
  provider: ProviderSettings,
  config: Omit<ModelsConfig, 'providers'>,
  fetch: Fetch = createFetch(config.proxies),
): Model {
  const timeouts = toTimeouts(provider, { ...defaultTimeouts, ...config.timeouts });
  const { wire, client } = createProtocols(provider, fetch);
  const findPrice = (request: ModelRequest) => {
    const facts = findFacts(provider, splitModelName(request.model).id);
    return facts && priceAt(facts, Date.now());
  };
  const { tooLong } = provider.profile?.rules ?? {};
  const pace = config.pace && new RequestPace(config.pace, provider);
  return new RetryingModel({
    begin: (asked, signal) => {
      const request = withParameters(asked, provider);
      return new ReplyAttempt({ wire, client, timeouts, price: findPrice(request), pace, tooLong }, request, signal);
    },
    ...(pace && { pace }),
    policy: { ...defaultRetries, ...config.retries },
    redact: redactor(readSecrets(provider)),
  });
}

/** The provider's own parameters, below those of the run. */
function withParameters(request: ModelRequest, { extraBody }: ProviderSettings): ModelRequest {
  if (!extraBody) return request;
  const { settings } = request;
  return { ...request, settings: { ...settings, extra_body: { ...extraBody, ...settings.extra_body } } };
}

/** A whole reply takes longer to begin than a stream. */
const wholeReplyMs = 600_000;

const toTimeouts = ({ streams = true, timeoutMs }: ProviderSettings, usual: Timeouts): Timeouts => ({
  ...usual,
  firstOutputTimeoutMs:
    timeoutMs ?? (streams ? usual.firstOutputTimeoutMs : Math.max(wholeReplyMs, usual.firstOutputTimeoutMs)),
  wholeReplyTimeoutMs: timeoutMs ?? Math.max(wholeReplyMs, usual.firstOutputTimeoutMs),
});

interface Protocols {
  readonly client: ProviderClient;
  readonly wire: WireProtocol;
}

function createProtocols(provider: ProviderSettings, fetch: Fetch): Protocols {
  switch (provider.kind) {
    case 'openai':
      return { client: createOpenAiClient(provider, fetch), wire: createOpenAiProtocol(provider) };
    case 'azure':
      return { client: createAzureClient(provider, fetch), wire: createOpenAiProtocol(provider) };
    case 'anthropic':
      return { client: createAnthropicClient(provider, fetch), wire: new AnthropicProtocol(provider) };
    case 'bedrock':
      return { client: createBedrockClient(provider, fetch), wire: new AnthropicProtocol(provider) };
    case 'vertex':
      return { client: createVertexClient(provider, fetch), wire: new AnthropicProtocol(provider) };
  }
}

function createOpenAiProtocol(provider: ProviderSettings): WireProtocol {
  switch (provider.api) {
    case 'chat':
      return new OpenAiProtocol(provider);
    case 'responses':
      return new ResponsesProtocol(provider);
    case undefined:
      return new EitherProtocol(provider);
  }
}

const readSecrets = ({ apiKey, headers, cloud }: ProviderSettings): string[] => [
  apiKey,
  ...[cloud?.accessKey, cloud?.secretKey, cloud?.sessionToken].filter((secret) => secret !== undefined),
  ...Object.values(headers),
];

async function* refuseModel(
  { model }: ModelRequest,
  { absent }: ModelProviders,
  reason = `The model ${model} cannot be used.`,
): AsyncGenerator<readonly ModelChunk[], void> {
  const needsKey = absent.some(({ name }) => name === splitModelName(model).provider);
  const code: ModelErrorCode = needsKey ? 'authentication' : 'model_not_supported';
  yield await Promise.resolve([{ type: 'end', how: 'failed', error: { code, message: reason } }]);
}
