import type { ReplyBody } from '../http/reply-body';
import { toReplyBody } from '../http/reply-body';
import { requestText } from '../request-text';
import type { WireRequest } from '../wire-protocol';

/** Sends requests to one provider through its maker's SDK. Made once; each request names its own signal. */
export interface ProviderClient {
  /** Resolves with the reply of a provider that accepted the request; rejects with what the SDK throws where it did not. */
  send(request: WireRequest, signal: AbortSignal): Promise<ReplyBody>;
}

/** The limits of time are ours: the SDKs' would count from the same moment, but not know what the run wants. */
export const sdkTimeoutMs = 24 * 60 * 60 * 1000;

/** The key of a provider without authentication. */
export const noKey = 'none';

/** What an SDK's client has for requests of any kind. */
interface SdkClient {
  post(
    path: string,
    options: { body: unknown; headers: Record<string, string>; signal: AbortSignal },
  ): { asResponse(): Promise<Response> };
}

const json = { 'content-type': 'application/json' };

/** The SDK sends a text as it is, so only what is new of a conversation is serialized. */
export const sendsText = (client: SdkClient): ProviderClient => ({
  async send({ path, params, unsettled }, signal) {
    const body = requestText(params, { unsettled });
    return toReplyBody(await client.post(path, { body, headers: json, signal }).asResponse());
  },
});

/** The SDK finds the model in the parameters, and puts it into the path. */
export const sendsParameters = (client: SdkClient): ProviderClient => ({
  async send({ path, params }, signal) {
    return toReplyBody(await client.post(path, { body: params, headers: json, signal }).asResponse());
  },
});

/** A client whose package is loaded with the first request. */
export function loadedLater(load: () => Promise<ProviderClient>): ProviderClient {
  let client: Promise<ProviderClient> | undefined;
  return {
    async send(request, signal) {
      client ??= load();
      return (await client).send(request, signal);
    },
  };
}

/** A base URL, which may have a query, as the SDKs take it. */
export function splitBaseUrl(base: string): { baseURL: string; defaultQuery?: Record<string, string> } {
  const url = new URL(base);
  const query = Object.fromEntries(url.searchParams);
  url.search = '';
  const baseURL = url.href.replace(/\/+$/, '');
  return Object.keys(query).length > 0 ? { baseURL, defaultQuery: query } : { baseURL };
}
