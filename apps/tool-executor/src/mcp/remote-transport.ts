import { SSEClientTransport, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import type { McpServer } from '@rondo/contract';
import { type CheckedFetch, type Target, createCheckedFetch } from '@rondo/platform';
import type { EgressGate } from '../sandboxes';
import { lenientResponse } from './lenient-message';
import type { TransportListeners } from './mcp-connection';

/** The longest answer, or stream of answers, of a server. */
const bodyBytes = 16 * 1024 * 1024;
/** This client opens streams again itself, together with their session: a server could ask for it without end. */
const noReconnection = {
  maxRetries: 0,
  initialReconnectionDelay: 0,
  maxReconnectionDelay: 0,
  reconnectionDelayGrowFactor: 1,
};

export type RemoteServer = Exclude<McpServer, { transport: 'stdio' }>;

export interface RemoteTransportParts extends TransportListeners {
  readonly headers: Readonly<Record<string, string>>;
  /** Puts values for the placeholders of secrets in headers, for each request anew. Absent: there are none. */
  readonly withSecrets?: (fetch: CheckedFetch) => CheckedFetch;
  readonly egress: Pick<EgressGate, 'admit'>;
}

/** Connects to a server over the network, by the egress rules of the thread. */
export function remoteTransport(server: RemoteServer, parts: RemoteTransportParts): Transport {
  const transport = createTransport(server, parts);
  transport.onmessage = (message) => {
    if ('method' in message) parts.unasked();
  };
  return transport;
}

function createTransport({ url, transport }: RemoteServer, parts: RemoteTransportParts): Transport {
  const { headers, egress, broke, withSecrets = unchanged } = parts;
  const admit = (target: Target) => egress.admit(target);
  const checked = withSecrets(createCheckedFetch({ admit, bodyBytes, brokeOff: broke }));
  const requestInit = { headers: { ...headers } };
  if (transport === 'sse') {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- servers that speak nothing newer still exist
    return new SSEClientTransport(new URL(url), { requestInit, fetch: openOnce(checked, broke) });
  }
  const streaming = withSecrets(createCheckedFetch({ admit, bodyBytes })); // its end ends no session
  const fetch: CheckedFetch = async (given, init) =>
    lenientResponse(await (isStream(init) ? streaming : checked)(given, init));
  const options = { requestInit, fetch, reconnectionOptions: noReconnection };
  return new StreamableHTTPClientTransport(new URL(url), options);
}

const unchanged = (fetch: CheckedFetch): CheckedFetch => fetch;

/** What the server says unasked comes over a stream that may end at any time. */
const isStream = (init: RequestInit | undefined): boolean =>
  isGet(init) || new Headers(init?.headers).get('mcp-method') === 'subscriptions/listen';

const isGet = (init: RequestInit | undefined): boolean => (init?.method ?? 'GET') === 'GET';

/** The stream is the session: when it ends, the session is over. */
function openOnce(fetch: CheckedFetch, broke: (error: Error) => void): CheckedFetch {
  let isOpened = false;
  return (url, init) => {
    if (!isGet(init)) return fetch(url, init);
    if (isOpened) {
      const ended = new Error('The server ended its stream.');
      broke(ended);
      return Promise.reject(ended);
    }
    isOpened = true;
    return fetch(url, init).then(lenientResponse);
  };
}
