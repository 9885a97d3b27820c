import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import type { WireProtocol, WireRequest } from '../wire-protocol';
import { onePerModel } from '../one-per-model';
import { EndingHabit, OpenAiReply } from './openai-reply';
import { toOpenAiRequest } from './openai-request';

/** The Chat Completions API of OpenAI and of compatible servers. */
export class OpenAiProtocol implements WireProtocol {
  private readonly streams: boolean;
  private readonly habitOf = onePerModel(() => new EndingHabit());

  constructor({ streams = true }: ProviderSettings) {
    this.streams = streams;
  }

  request(request: ModelRequest): WireRequest {
    return { path: '/chat/completions', params: toOpenAiRequest(request, { streams: this.streams }), unsettled: 0 };
  }

  reader({ model }: ModelRequest): OpenAiReply {
    return new OpenAiReply(this.habitOf(model));
  }
}
