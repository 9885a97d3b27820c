import Anthropic from '@anthropic-ai/sdk';
import type { ProviderSettings } from '@rondo/domain';
import type { Fetch } from '../http/lean-fetch';
import { type ProviderClient, loadLater, noKey, sdkTimeoutMs, sendsText, splitBaseUrl } from './provider-client';

/**
 * Enables thinking between tool calls, for models with a thinking budget. Anthropic ignores the header for other models and
 * without thinking; some other hosts of Claude refuse a request whose model does not support it.
 */
const interleavedThinking = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' };

const ownServer = 'https://api.anthropic.com';

/** Whether the provider is Anthropic itself. */
export const isAnthropicServer = ({ kind, baseUrl = ownServer }: ProviderSettings): boolean =>
  kind === 'anthropic' && new URL(baseUrl).origin === ownServer;

/** The Messages API of Anthropic and of compatible servers. */
export function createAnthropicClient(provider: ProviderSettings, fetch: Fetch): ProviderClient {
  const { apiKey, baseUrl = ownServer } = provider;
  const betas = isAnthropicServer(provider) ? interleavedThinking : {};
  const open = apiKey === noKey ? { authorization: null } : {};
  const settings = ownSettings(provider, { ...open, ...betas });
  const { baseURL, ...query } = splitBaseUrl(baseUrl);
  const root = baseURL.replace(/\/v1$/, ''); // other tools take it with what is a part of the paths here
  return sendsText(new Anthropic({ apiKey, baseURL: root, ...query, ...settings, fetch }));
}

/** Claude at Amazon Bedrock: requests are signed with AWS keys, those of the host if none are given, or carry a Bedrock key. */
export const createBedrockClient = (provider: ProviderSettings, fetch: Fetch): ProviderClient =>
  loadLater(async () => {
    const { AnthropicBedrock } = await import('@anthropic-ai/bedrock-sdk');
    const { apiKey, cloud = {}, baseUrl } = provider;
    const { region: awsRegion = 'us-east-1', accessKey, secretKey, sessionToken } = cloud;
    const settings = {
      awsRegion,
      ...splitBaseUrl(baseUrl ?? `https://bedrock-runtime.${awsRegion}.amazonaws.com`),
      ...ownSettings(provider),
      fetch,
    };
    if (!accessKey || !secretKey)
      return sendsText(new AnthropicBedrock({ ...settings, apiKey: apiKey === noKey ? null : apiKey }));
    const keys = { awsAccessKey: accessKey, awsSecretKey: secretKey, awsSessionToken: sessionToken ?? null };
    return sendsText(new AnthropicBedrock({ ...settings, ...keys, apiKey: null }));
  });

/** Claude at Google Vertex AI, with a token, the key of a service account as JSON, or what Google's library finds on the host. */
export const createVertexClient = (provider: ProviderSettings, fetch: Fetch): ProviderClient =>
  loadLater(async () => {
    const [{ AnthropicVertex }, { GoogleAuth, OAuth2Client }] = await Promise.all([
      import('@anthropic-ai/vertex-sdk'),
      import('google-auth-library'),
    ]);
    const { apiKey, cloud = {}, baseUrl } = provider;
    const scopes = 'https://www.googleapis.com/auth/cloud-platform';
    const isAccount = apiKey.trimStart().startsWith('{');
    const token = new OAuth2Client();
    token.setCredentials({ access_token: apiKey });
    const credentials = isAccount ? { credentials: JSON.parse(apiKey) as object } : {};
    const auth =
      apiKey === noKey || isAccount
        ? { googleAuth: new GoogleAuth({ scopes, ...credentials }) }
        : { authClient: token };
    const region = cloud.region ?? 'global';
    const client = new AnthropicVertex({
      region,
      projectId: cloud.project ?? null,
      ...(baseUrl === undefined ? { baseURL: null } : splitBaseUrl(baseUrl)),
      ...auth,
      ...ownSettings(provider),
      fetch,
    });
    return sendsText(client);
  });

/**
 * What the SDK would look for in the environment is given, so that nothing foreign is sent. It has no option against
 * ANTHROPIC_CUSTOM_HEADERS, whose headers it always sends.
 */
const ownSettings = ({ headers }: ProviderSettings, more: Readonly<Record<string, string | null>> = {}) => ({
  webhookKey: null,
  logLevel: 'off' as const,
  maxRetries: 0,
  timeout: sdkTimeoutMs,
  defaultHeaders: { 'user-agent': 'rondo', ...more, ...headers },
});
