import { reasoningEffort } from '@rondo/contract';
import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import { onePerModel } from '../one-per-model';
import { findProfile } from '../providers/find-profile';
import { omittedTools } from '../providers/provider-profile';
import type { WireProtocol, WireRequest } from '../wire-protocol';
import { ResponsesReply } from './responses-reply';
import { createInputs, toResponsesRequest } from './responses-request';

/** OpenAI's Responses API. */
export class ResponsesProtocol implements WireProtocol {
  private readonly streams: boolean;
  private readonly sendingTo;

  constructor(provider: ProviderSettings) {
    this.streams = provider.streams ?? true;
    this.sendingTo = onePerModel((model) => {
      const profile = findProfile(provider, model);
      return { streams: this.streams, profile, inputsOf: createInputs(model, profile) };
    });
  }

  request(request: ModelRequest): WireRequest {
    const sending = this.sendingTo(request.model);
    const params = toResponsesRequest(request, sending);
    const effort = reasoningEffort.safeParse(params.reasoning?.effort).data; // a run's own parameters may be of any kind
    const left = omittedTools(request.tools, sending.profile);
    return {
      path: '/responses',
      params,
      unsettled: 0,
      notes: { ...(effort && { effort }), ...(left.length > 0 && { omittedTools: left }) },
    };
  }

  reader({ model }: ModelRequest): ResponsesReply {
    return new ResponsesReply(model);
  }
}
