import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import type { WireProtocol, WireRequest } from '../wire-protocol';
import { OpenAiReply } from './openai-reply';
import { toOpenAiRequest } from './openai-request';

/** The Chat Completions API of OpenAI and of compatible servers. */
export class OpenAiProtocol implements WireProtocol {
  private readonly streams: boolean;

  constructor({ streams = true }: ProviderSettings) {
    this.streams = streams;
  }

  request(request: ModelRequest): WireRequest {
    return { path: '/chat/completions', params: toOpenAiRequest(request, { streams: this.streams }), unsettled: 0 };
  }

  reader(): OpenAiReply {
    return new OpenAiReply();
  }
}
