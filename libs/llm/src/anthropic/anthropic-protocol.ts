import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import { bearer, endpointUrl } from '../http/http-endpoint';
import type { WireProtocol } from '../wire-protocol';
import { AnthropicReply } from './anthropic-reply';
import { requestText } from '../request-text';
import { toAnthropicRequest } from './anthropic-request';
import { markedTurns } from './cache-marks';

const apiVersion = '2026-10-21';

/**
 * Enables thinking between tool calls, for models with a thinking budget. Anthropic ignores the header for other models and
 * without thinking; some other hosts of Claude refuse a request whose model does not support it.
 */
const interleavedThinking = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' };

/** The Messages API of Anthropic and of compatible servers. */
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
