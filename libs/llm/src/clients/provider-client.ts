import { memoizeGrowingList } from '@rondo/domain';
import { type ReplyBody, toReplyBody } from '../http/reply-body';
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
export function loadLater(load: () => Promise<ProviderClient>): ProviderClient {
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

/**
 * A request as JSON. Elements of its lists (messages and tools) that were in the previous request are not serialized again,
 * so that the cost depends on what is new. `unsettled`: how many elements at the end of a list may change in the next request.
 */
export function requestText(request: object, { unsettled = 0 } = {}): string {
  const pieces = ['{'];
  for (const [name, value] of Object.entries(request) as [string, unknown][]) {
    if (value === undefined) continue;
    pieces.push(pieces.length > 1 ? ',' : '', `"${name}":`);
    if (Array.isArray(value)) pieces.push('[', ...listPieces(value, unsettled), ']');
    else pieces.push(JSON.stringify(value));
  }
  return joinPieces([...pieces, '}']);
}

/** The first is always serialized: it may be the system prompt, which is a new object in each request. */
function listPieces([first, ...others]: readonly object[], unsettled: number): string[] {
  if (!first) return [];
  const settled = Math.max(0, others.length - unsettled);
  return [JSON.stringify(first), settledText(others.slice(0, settled)), ...others.slice(settled).map(following)];
}

const settledText = memoizeGrowingList<object, string>((text = '', more) => joinPieces([text, ...more.map(following)]));

const following = (one: object): string => `,${JSON.stringify(one)}`;

/** One flat string: with `+`, V8 would keep a tree of thousands of parts and walk it each time. */
const joinPieces = (pieces: readonly string[]): string => pieces.join('');
