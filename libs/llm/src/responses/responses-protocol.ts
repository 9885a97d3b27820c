import { reasoningEffort } from '@rondo/contract';
import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import { onePerModel } from '../one-per-model';
import { type Lessons, learnFrom, withLessons } from '../openai/refused-parameters';
import type { ProviderError } from '../provider-error';
import { findProfile } from '../providers/find-profile';
import { omittedTools } from '../providers/provider-profile';
import type { WireProtocol, WireRequest } from '../wire-protocol';
import { ResponsesReply } from './responses-reply';
import { type Sending, createInputs, toResponsesRequest } from './responses-request';

/** What this process knows of one model of the provider. */
interface KnownModel extends Sending {
  lessons: Lessons;
}

/** OpenAI's Responses API. */
export class ResponsesProtocol implements WireProtocol {
  private readonly known: (model: string) => KnownModel;

  constructor(provider: ProviderSettings) {
    const streams = provider.streams ?? true;
    this.known = onePerModel((model) => {
      const profile = findProfile(provider, model);
      return { streams, profile, inputsOf: createInputs(model, profile), lessons: {} };
    });
  }

  request(request: ModelRequest): WireRequest {
    const model = this.known(request.model);
    const { params, omitted } = withLessons(toResponsesRequest(request, model), model.lessons);
    const effort = reasoningEffort.safeParse(params.reasoning?.effort).data; // a run's own parameters may be of any kind
    const left = omittedTools(request.tools, model.profile);
    return {
      path: '/responses',
      params,
      unsettled: 0,
      notes: {
        ...(effort && { effort }),
        ...(left.length > 0 && { omittedTools: left }),
        ...(omitted.length > 0 && { omittedParameters: omitted }),
      },
    };
  }

  /** Whether the request is worth another attempt, because it lacks from now on what was refused by name. */
  learn(request: ModelRequest, error: ProviderError): boolean {
    const model = this.known(request.model);
    const lessons = learnFrom(error, this.request(request).params, model.lessons);
    if (lessons) model.lessons = lessons;
    return lessons !== undefined;
  }

  reader({ model }: ModelRequest): ResponsesReply {
    return new ResponsesReply(model);
  }
}
