import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import { onePerModel } from '../one-per-model';
import { type Lessons, rememberLesson, withLessons } from '../openai/refused-parameters';
import type { ProviderError } from '../provider-error';
import { findRules, learnRules } from '../providers/conversation-rules';
import { listOmittedTools } from '../providers/provider-profile';
import { removeRefused } from '../providers/refused-parts';
import { type WireProtocol, type WireRequest, toNotes } from '../wire-protocol';
import { ResponsesReply } from './responses-reply';
import { type Sending, createInputs, toResponsesRequest } from './responses-request';

/** What this process knows of one model of the provider. */
interface KnownModel extends Sending {
  profile: Sending['profile'];
  toInputs: Sending['toInputs'];
  removeRefused: (request: ModelRequest) => ModelRequest;
  lessons: Lessons;
}

/** OpenAI's Responses API. */
export class ResponsesProtocol implements WireProtocol {
  private readonly known: (model: string) => KnownModel;

  constructor(provider: ProviderSettings) {
    const streams = provider.streams ?? true;
    this.known = onePerModel((model) => {
      const profile = findRules(provider, model);
      const toInputs = createInputs(model, profile);
      return { streams, profile, toInputs, removeRefused: removeRefused(profile), lessons: {} };
    });
  }

  request(request: ModelRequest): WireRequest {
    const model = this.known(request.model);
    const { params, omitted } = withLessons(toResponsesRequest(model.removeRefused(request), model), model.lessons);
    return {
      path: '/responses',
      params,
      unsettled: 0,
      notes: toNotes({
        effort: params.reasoning?.effort,
        omittedTools: listOmittedTools(request.tools, model.profile),
        omittedParameters: omitted,
      }),
    };
  }

  /** Whether the request is worth another attempt, because it differs from now on from what was refused. */
  learn(request: ModelRequest, error: ProviderError): boolean {
    const model = this.known(request.model);
    const learned = learnRules(model.profile, request, error);
    if (learned) {
      model.profile = learned;
      model.toInputs = createInputs(request.model, learned);
      model.removeRefused = removeRefused(learned);
      return true;
    }
    return rememberLesson(model, error, this.request(request).params);
  }

  reader({ model }: ModelRequest): ResponsesReply {
    return new ResponsesReply(model);
  }
}
