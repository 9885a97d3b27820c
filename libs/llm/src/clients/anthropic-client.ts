import Anthropic from '@anthropic-ai/sdk';
import type { ProviderSettings } from '@rondo/domain';
import type { Fetch } from '../http/lean-fetch';
import { toReplyBody } from '../http/reply-body';
import { requestText } from '../request-text';
import { type ProviderClient, sdkTimeoutMs, splitBaseUrl } from './provider-client';

/**
 * Enables thinking between tool calls, for models with a thinking budget. Anthropic ignores the header for other models and
 * without thinking; some other hosts of Claude refuse a request whose model does not support it.
 */
const interleavedThinking = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' };

/** The Messages API of Anthropic and of compatible servers. */
export function createAnthropicClient(
  { apiKey, baseUrl = 'https://api.anthropic.com', headers }: ProviderSettings,
  fetch: Fetch,
): ProviderClient {
  const betas = new URL(baseUrl).hostname === 'api.anthropic.com' ? interleavedThinking : {};
  const client = new Anthropic({
    apiKey,
    ...splitBaseUrl(baseUrl),
    webhookKey: null,
    logLevel: 'off',
    maxRetries: 0,
    timeout: sdkTimeoutMs,
    defaultHeaders: { 'user-agent': 'rondo', ...betas, ...headers },
    fetch,
  });
  return {
    async send({ path, params, unsettled }, signal) {
      const body = requestText(params, { unsettled });
      const headers = { 'content-type': 'application/json' };
      return toReplyBody(await client.post(path, { body, headers, signal }).asResponse());
    },
  };
}
