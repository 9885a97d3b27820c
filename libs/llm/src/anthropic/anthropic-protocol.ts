import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import { bearer, endpointUrl } from '../http/http-endpoint';
import type { WireProtocol } from '../wire-protocol';
import { AnthropicReply } from './anthropic-reply';
import { requestText } from '../request-text';
import { toAnthropicRequest } from './anthropic-request';
import { markedTurns } from './cache-marks';

const apiVersion = '2026-10-21';

/**
 * Thoughts between calls, for the models that think by a budget. Anthropic ignores it for all others, and where nothing is
 * thought; of the other hosts of Claude, some refuse a request for a model that does not know it.
 */
const interleavedThinking = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' };

/** Messages of Anthropic and of every server that speaks the same. */
export class AnthropicProtocol implements WireProtocol {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;

  constructor({ apiKey, baseUrl = 'https://api.anthropic.com', headers }: ProviderSettings) {
    this.url = endpointUrl(baseUrl, '/v1/messages');
    const betas = this.url.hostname === 'api.anthropic.com' ? interleavedThinking : {};
    this.headers = { ...bearer(apiKey), 'anthropic-version': apiVersion, ...betas, ...headers };
  }

  body(request: ModelRequest): string {
    return requestText(toAnthropicRequest(request), { unsettled: markedTurns });
  }

  reader(): AnthropicReply {
    return new AnthropicReply();
  }
}
