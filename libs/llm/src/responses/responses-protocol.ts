import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import type { WireProtocol, WireRequest } from '../wire-protocol';
import { ResponsesReply } from './responses-reply';
import { toResponsesRequest } from './responses-request';

/** OpenAI's Responses API. */
export class ResponsesProtocol implements WireProtocol {
  private readonly streams: boolean;

  constructor({ streams = true }: ProviderSettings) {
    this.streams = streams;
  }

  request(request: ModelRequest): WireRequest {
    return { path: '/responses', params: toResponsesRequest(request, { streams: this.streams }), unsettled: 0 };
  }

  reader({ model }: ModelRequest): ResponsesReply {
    return new ResponsesReply(model);
  }
}
