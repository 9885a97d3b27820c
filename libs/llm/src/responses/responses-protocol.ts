import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import { KnownModels } from '../known-models';
import { thinksLong } from '../openai/openai-family';
import { type Lessons, learnFrom, withLessons } from '../openai/refused-parameters';
import type { ProviderError } from '../provider-error';
import { findRules, learnRules } from '../providers/conversation-rules';
import { listOmittedTools } from '../providers/provider-profile';
import { removeRefused } from '../providers/refused-parts';
import { type WireProtocol, type WireRequest, toNotes } from '../wire-protocol';
import { ResponsesReply } from './responses-reply';
import { type Sending, createInputs, toResponsesRequest } from './responses-request';

/** What is known of one model of the provider. */
interface KnownModel extends Sending {
  readonly removeRefused: (request: ModelRequest) => ModelRequest;
  readonly lessons: Lessons;
}

/** OpenAI's Responses API. */
export class ResponsesProtocol implements WireProtocol {
  private readonly known: KnownModels<KnownModel>;

  constructor(provider: ProviderSettings) {
    const streams = provider.streams ?? true;
    this.known = new KnownModels((model) => ({
      streams,
      ...applyRules(findRules(provider, model), model),
      lessons: {},
    }));
  }

  request(request: ModelRequest): WireRequest {
    const model = this.known.find(request);
    const { params, omitted } = withLessons(toResponsesRequest(model.removeRefused(request), model), model.lessons);
    return {
      path: '/responses',
      params,
      unsettled: 0,
      thinksLong: thinksLong(params.model, params.reasoning?.effort),
      notes: toNotes({
        effort: params.reasoning?.effort,
        omittedTools: listOmittedTools(request.tools, model.profile),
        omittedParameters: omitted,
      }),
    };
  }

  /** Whether the request is worth another attempt, because it differs from now on from what was refused. */
  learn(request: ModelRequest, error: ProviderError): boolean {
    const model = this.known.find(request);
    const profile = learnRules(model.profile, request, error);
    const lessons = profile ? undefined : learnFrom(error, this.request(request).params, model.lessons);
    if (profile) this.known.keep(request, { ...model, ...applyRules(profile, request.model) });
    if (lessons) this.known.keep(request, { ...model, lessons });
    return profile !== undefined || lessons !== undefined;
  }

  reader({ model }: ModelRequest): ResponsesReply {
    return new ResponsesReply(model);
  }
}

const applyRules = (profile: Sending['profile'], model: string) => ({
  profile,
  toInputs: createInputs(model, profile),
  removeRefused: removeRefused(profile),
});
