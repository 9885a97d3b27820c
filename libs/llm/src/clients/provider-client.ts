import type { ReplyBody } from '../http/reply-body';
import type { WireRequest } from '../wire-protocol';

/** Sends requests to one provider through its maker's SDK. Made once; each request names its own signal. */
export interface ProviderClient {
  /** Resolves with the reply of a provider that accepted the request; rejects with what the SDK throws where it did not. */
  send(request: WireRequest, signal: AbortSignal): Promise<ReplyBody>;
}

/** The limits of time are ours: the SDKs' would count from the same moment, but not know what the run wants. */
export const sdkTimeoutMs = 24 * 60 * 60 * 1000;

/** A base URL, which may have a query, as the SDKs take it. */
export function splitBaseUrl(base: string): { baseURL: string; defaultQuery?: Record<string, string> } {
  const url = new URL(base);
  const query = Object.fromEntries(url.searchParams);
  url.search = '';
  const baseURL = url.href.replace(/\/+$/, '');
  return Object.keys(query).length > 0 ? { baseURL, defaultQuery: query } : { baseURL };
}
