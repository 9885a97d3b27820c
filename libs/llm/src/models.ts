import type { ModelErrorCode } from '@rondo/contract';
import {
  type AbsentProvider,
  type Model,
  type ModelChunk,
  type ModelProviders,
  type ModelRequest,
  type ProviderSettings,
  budgetsOf,
  factsOf,
  priceAt,
  splitModelName,
  whyNotConfigured,
} from '@rondo/domain';
import { AnthropicProtocol } from './anthropic/anthropic-protocol';
import { createAnthropicClient } from './clients/anthropic-client';
import { createOpenAiClient } from './clients/openai-client';
import type { ProviderClient } from './clients/provider-client';
import { type Fetch, createFetch } from './http/lean-fetch';
import { OpenAiProtocol } from './openai/openai-protocol';
import { ReplyAttempt } from './reply-attempt';
import { type RetryPolicy, RetryingModel, defaultRetries, redactor } from './retrying-model';
import { type Timeouts, defaultTimeouts } from './silence-timer';
import type { WireProtocol } from './wire-protocol';

export interface ModelsConfig {
  readonly providers: readonly ProviderSettings[];
  readonly absent?: readonly AbsentProvider[];
  readonly timeouts?: Partial<Timeouts>;
  readonly retries?: Partial<RetryPolicy>;
}

/** All models of all configured providers behind one interface: the model name of a request selects the provider. */
export type Models = Model;

/** Immutable after creation: what differs between two requests is in the requests (I10). */
export function createModels(config: ModelsConfig): Models {
  const known: ModelProviders = { providers: config.providers, absent: config.absent ?? [] };
  const models = new Map(config.providers.map((provider) => [provider.name, modelOf(provider, config)]));
  return {
    stream(request, signal) {
      const model = models.get(splitModelName(request.model).provider);
      const reason = whyNotConfigured(request.model, known);
      return model && reason === undefined ? model.stream(request, signal) : refused(request, known, reason);
    },
  };
}

function modelOf(provider: ProviderSettings, config: ModelsConfig): Model {
  const timeouts = timeoutsOf(provider, { ...defaultTimeouts, ...config.timeouts });
  const { wire, client } = protocolOf(provider, createFetch());
  const budgetOf = budgetsOf(config);
  const priceOf = (request: ModelRequest) => {
    const facts = factsOf(provider, splitModelName(request.model).id);
    return facts && priceAt(facts, Date.now());
  };
  return new RetryingModel({
    begin: (request, signal) =>
      new ReplyAttempt(
        { wire, client, timeouts, price: priceOf(request), inputBudget: budgetOf(request.model) },
        request,
        signal,
      ),
    policy: { ...defaultRetries, ...config.retries },
    redact: redactor([provider.apiKey, ...Object.values(provider.headers)]),
  });
}

/** A whole reply takes longer to begin than a stream. */
const wholeReplyMs = 600_000;

const timeoutsOf = ({ streams = true, timeoutMs }: ProviderSettings, usual: Timeouts): Timeouts => ({
  ...usual,
  firstOutputTimeoutMs:
    timeoutMs ?? (streams ? usual.firstOutputTimeoutMs : Math.max(wholeReplyMs, usual.firstOutputTimeoutMs)),
});

function protocolOf(provider: ProviderSettings, fetch: Fetch): { wire: WireProtocol; client: ProviderClient } {
  switch (provider.kind) {
    case 'openai':
      return { wire: new OpenAiProtocol(provider), client: createOpenAiClient(provider, fetch) };
    case 'anthropic':
      return { wire: new AnthropicProtocol(), client: createAnthropicClient(provider, fetch) };
  }
}

async function* refused(
  { model }: ModelRequest,
  { absent }: ModelProviders,
  reason = `The model ${model} cannot be used.`,
): AsyncGenerator<readonly ModelChunk[], void> {
  const needsKey = absent.some(({ name }) => name === splitModelName(model).provider);
  const code: ModelErrorCode = needsKey ? 'authentication' : 'model_not_supported';
  yield await Promise.resolve([{ type: 'end', how: 'failed', error: { code, message: reason } }]);
}
