import { once } from 'node:events';
import {
  type ClientRequestArgs,
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestOverHttp,
} from 'node:http';
import { Agent as HttpsAgent, type RequestOptions, request as requestOverHttps } from 'node:https';
import { Socket, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as startTls } from 'node:tls';
import type { OutboundProxy } from './outbound-proxy';
import { type Target, bareHost } from './target';
import { toError } from '../thrown';

/** For the proxy to be reached and to connect. */
const tunnelTimeoutMs = 10_000;

/**
 * A connection that the proxy makes to a host and port, by CONNECT. Rejects if the proxy cannot be reached or refuses; its status is
 * in the message then, and nothing of the request has been sent.
 */
export async function openTunnel(proxy: URL, { hostname, port }: Target, signal?: AbortSignal): Promise<Socket> {
  const isSecure = proxy.protocol === 'https:';
  const authority = `${hostname}:${port}`;
  const request = (isSecure ? requestOverHttps : requestOverHttp)({
    ...{ host: bareHost(proxy.hostname), port: Number(proxy.port || (isSecure ? 443 : 80)), agent: false },
    ...{ method: 'CONNECT', path: authority },
    headers: { host: authority, 'user-agent': 'rondo', ...readCredentials(proxy) },
    ...(signal && { signal }),
  });
  const timer = setTimeout(() => request.destroy(new Error('no connection in time')), tunnelTimeoutMs);
  try {
    const [answer, socket, head] = (await once(request.end(), 'connect')) as [IncomingMessage, Socket, Buffer]; // Node's documented arguments.
    const { statusCode = 0 } = answer;
    if (statusCode < 200 || statusCode > 299) {
      socket.destroy();
      throw new Error(`The proxy answered with status ${statusCode}.`);
    }
    if (head.length > 0) socket.unshift(head);
    return socket;
  } finally {
    clearTimeout(timer);
  }
}

function readCredentials({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const plain = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(plain).toString('base64')}` };
}

/** For libraries that take agents of Node: connections leave through the proxy, except to hosts that are reached directly. */
export const createProxyAgents = (proxy: OutboundProxy) => ({
  httpAgent: new TunnelAgent(proxy),
  httpsAgent: new SecureTunnelAgent(proxy),
});

type Created = (error: Error | null, stream: Duplex) => void;

class TunnelAgent extends HttpAgent {
  constructor(private readonly proxy: OutboundProxy) {
    super({ keepAlive: true });
  }

  override createConnection(options: ClientRequestArgs, created?: Created): Duplex | null | undefined {
    const target = readTarget(options, 'http:');
    const server = this.proxy.serverFor(target);
    if (!server || !created) return super.createConnection(options, created);
    openTunnel(server, target).then(
      (socket) => created(null, socket),
      (error: unknown) => created(toError(error), new Socket()),
    );
    return undefined;
  }
}

class SecureTunnelAgent extends HttpsAgent {
  constructor(private readonly proxy: OutboundProxy) {
    super({ keepAlive: true });
  }

  override createConnection(options: RequestOptions, created?: Created): Duplex | null | undefined {
    const target = readTarget(options, 'https:');
    const server = this.proxy.serverFor(target);
    if (!server || !created) return super.createConnection(options, created);
    openTunnel(server, target).then(
      (socket) => created(null, startTls({ ...options, socket } as ConnectionOptions)),
      (error: unknown) => created(toError(error), new Socket()),
    );
    return undefined;
  }
}

function readTarget({ host, port }: ClientRequestArgs, protocol: 'http:' | 'https:'): Target {
  const hostname = host ?? 'localhost';
  return {
    hostname: isIP(hostname) === 6 ? `[${hostname}]` : hostname,
    port: Number(port ?? (protocol === 'http:' ? 80 : 443)),
    protocol,
  };
}
