import type { ProviderSettings } from '@rondo/domain';
import OpenAI, { AzureOpenAI } from 'openai';
import type { Fetch } from '../http/lean-fetch';
import { type ProviderClient, noKey, sdkTimeoutMs, sendsParameters, sendsText, splitBaseUrl } from './provider-client';

/** The APIs of OpenAI, and servers that are compatible with them. */
export function createOpenAiClient(provider: ProviderSettings, fetch: Fetch): ProviderClient {
  const { apiKey, baseUrl = 'https://api.openai.com/v1' } = provider;
  return sendsText(new OpenAI({ apiKey, ...splitBaseUrl(baseUrl), ...ownSettings(provider), fetch }));
}

/** A version of Azure's API that has tools, streams and their usage. */
const usualApiVersion = '2024-10-21';

/** OpenAI's models at Azure: the deployment is in the path, the version in the query, and the key in a header of its own. */
export function createAzureClient(provider: ProviderSettings, fetch: Fetch): ProviderClient {
  const { apiKey, baseUrl = '', cloud } = provider;
  const { baseURL, defaultQuery = {} } = splitBaseUrl(baseUrl);
  if (baseURL.endsWith('/openai/v1')) return createUndatedAzureClient(provider, fetch);

  const { 'api-version': apiVersion = cloud?.apiVersion ?? usualApiVersion, ...query } = defaultQuery;
  const client = new AzureOpenAI({
    apiKey,
    apiVersion,
    baseURL: new URL(baseURL).pathname.includes('/openai') ? baseURL : `${baseURL}/openai`,
    ...(cloud?.deployment && { deployment: cloud.deployment }),
    defaultQuery: query,
    ...ownSettings(provider),
    fetch,
  });
  return asksDeployment(sendsParameters(client), cloud?.deployment);
}

/** Azure's API without dates has the paths of OpenAI's. */
function createUndatedAzureClient(provider: ProviderSettings, fetch: Fetch): ProviderClient {
  const { apiKey, baseUrl = '', cloud: { apiVersion, deployment } = {} } = provider;
  const { baseURL, defaultQuery } = splitBaseUrl(baseUrl);
  const { defaultHeaders, ...own } = ownSettings(provider);
  const client = new OpenAI({
    apiKey,
    baseURL,
    defaultQuery: { ...(apiVersion !== undefined && { 'api-version': apiVersion }), ...defaultQuery },
    defaultHeaders: { authorization: null, 'api-key': apiKey, ...defaultHeaders },
    ...own,
    fetch,
  });
  return asksDeployment(sendsText(client), deployment);
}

/** Where the path does not name the deployment, the model of a request does. */
const asksDeployment = (client: ProviderClient, deployment: string | undefined): ProviderClient =>
  deployment === undefined
    ? client
    : {
        send: (request, signal) =>
          client.send({ ...request, params: { ...request.params, model: deployment } }, signal),
      };

/**
 * What the SDK would look for in the environment is given, so that nothing foreign is sent. It has no option against
 * OPENAI_CUSTOM_HEADERS, whose headers it always sends.
 */
const ownSettings = ({ apiKey, headers }: ProviderSettings) => ({
  adminAPIKey: null,
  organization: null,
  project: null,
  webhookSecret: null,
  logLevel: 'off' as const,
  maxRetries: 0,
  timeout: sdkTimeoutMs,
  defaultHeaders: { 'user-agent': 'rondo', ...(apiKey === noKey && { authorization: null }), ...headers },
});
