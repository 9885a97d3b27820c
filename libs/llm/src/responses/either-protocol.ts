import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import { KnownModels } from '../known-models';
import { OpenAiProtocol } from '../openai/openai-protocol';
import type { ProviderError } from '../provider-error';
import type { ReplyReader, WireProtocol, WireRequest } from '../wire-protocol';
import { ResponsesProtocol } from './responses-protocol';
import { needsResponses } from './responses-request';

/** OpenAI refuses so what only its newer API has: some models, and with some others tools beside an effort. */
const aboutResponses = /\bv1\/responses\b/;

/** Where a model can be asked. `chat`: its server speaks of Responses, but does not have it. */
interface KnownModel {
  readonly place: 'unknown' | 'responses' | 'chat';
}

/**
 * Both APIs of OpenAI, where the provider's entry leaves it open which: Chat Completions, unless it is known of OpenAI that only
 * Responses has what is asked for, or a refusal has said so of the model.
 */
export class EitherProtocol implements WireProtocol {
  private readonly chat: WireProtocol;
  private readonly responses: WireProtocol;
  private readonly isOpenAi: boolean;
  private readonly known = new KnownModels((): KnownModel => ({ place: 'unknown' }));

  constructor(provider: ProviderSettings) {
    const { baseUrl, kind } = provider;
    this.chat = new OpenAiProtocol(provider);
    this.responses = new ResponsesProtocol(provider);
    this.isOpenAi = kind === 'openai' && (baseUrl === undefined || new URL(baseUrl).hostname === 'api.openai.com');
  }

  request(request: ModelRequest): WireRequest {
    return this.choose(request).request(request);
  }

  reader(request: ModelRequest): ReplyReader {
    return this.choose(request).reader(request);
  }

  learn(request: ModelRequest, error: ProviderError): boolean {
    const chosen = this.choose(request);
    const { place } = this.known.find(request);
    if (chosen === this.chat && place === 'unknown' && aboutResponses.test(error.message))
      return this.learnPlace(request, 'responses');
    if (chosen === this.responses && place === 'responses' && error.code === 'not_found')
      return this.learnPlace(request, 'chat'); // where the refusal says what to do
    return chosen.learn?.(request, error) ?? false;
  }

  private learnPlace(request: ModelRequest, place: KnownModel['place']): true {
    this.known.keep(request, { place });
    return true;
  }

  private choose(request: ModelRequest): WireProtocol {
    const isKnown = this.isOpenAi && needsResponses(request);
    return isKnown || this.known.find(request).place === 'responses' ? this.responses : this.chat;
  }
}
