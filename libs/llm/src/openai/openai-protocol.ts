import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import { bearer, endpointUrl } from '../http/http-endpoint';
import type { WireProtocol } from '../wire-protocol';
import { OpenAiReply } from './openai-reply';
import { requestText } from '../request-text';
import { toOpenAiRequest } from './openai-request';

/** The Chat Completions API of OpenAI and of compatible servers. */
export class OpenAiProtocol implements WireProtocol {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;

  private readonly streams: boolean;

  constructor({ apiKey, baseUrl = 'https://api.openai.com/v1', headers, streams = true }: ProviderSettings) {
    this.streams = streams;
    this.url = endpointUrl(baseUrl, '/chat/completions');
    this.headers = { ...bearer(apiKey), ...headers };
  }

  body(request: ModelRequest): string {
    return requestText(toOpenAiRequest(request, { streams: this.streams }));
  }

  reader(): OpenAiReply {
    return new OpenAiReply();
  }
}
