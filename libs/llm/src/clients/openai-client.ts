import type { ProviderSettings } from '@rondo/domain';
import OpenAI from 'openai';
import type { Fetch } from '../http/lean-fetch';
import { toReplyBody } from '../http/reply-body';
import { requestText } from '../request-text';
import { type ProviderClient, sdkTimeoutMs, splitBaseUrl } from './provider-client';

/** The APIs of OpenAI, and servers that are compatible with them. */
export function createOpenAiClient(
  { apiKey, baseUrl = 'https://api.openai.com/v1', headers }: ProviderSettings,
  fetch: Fetch,
): ProviderClient {
  const client = new OpenAI({ apiKey, ...splitBaseUrl(baseUrl), ...ownSettings(headers), fetch });
  return {
    async send({ path, params, unsettled }, signal) {
      // The SDK sends a text as it is: only what is new of a conversation is serialized.
      const body = requestText(params, { unsettled });
      const headers = { 'content-type': 'application/json' };
      return toReplyBody(await client.post(path, { body, headers, signal }).asResponse());
    },
  };
}

/** Everything that the SDK would look for in the environment is given, so that nothing foreign is sent. */
const ownSettings = (headers: Readonly<Record<string, string>>) => ({
  adminAPIKey: null,
  organization: null,
  project: null,
  webhookSecret: null,
  logLevel: 'off' as const,
  maxRetries: 0,
  timeout: sdkTimeoutMs,
  defaultHeaders: { 'user-agent': 'rondo', ...headers },
});
