import { once } from 'node:events';
import { BlockList, type Socket, connect, isIP } from 'node:net';
import { connect as startTls } from 'node:tls';
import { CheckedDestination } from './checked-destination';
import { bareHost } from './target';
import { openTunnel } from './tunnel';

const connectTimeoutMs = 10_000;

/**
 * Connects to the address that was checked, or has the proxy connect to it. Rejects when that takes too long, when the proxy
 * refuses, or when the peer is not at that address.
 */
export async function dial(destination: CheckedDestination, signal?: AbortSignal): Promise<Socket> {
  signal?.throwIfAborted();
  const { address, port, proxy } = CheckedDestination.proven(destination);
  if (proxy) return openTunnel(proxy, { hostname: isIP(address) === 6 ? `[${address}]` : address, port }, signal);

  const socket = connect({ host: address, port });
  await readyWithin(socket, 'connect', signal);
  if (isSameAddress(socket.remoteAddress, address)) return socket;

  socket.destroy();
  throw new Error('The connection led to another address than the one that was checked.');
}

/** Connects for requests to this URL; for https the server has proved that it is the host of the URL. */
export async function dialFor(url: URL, destination: CheckedDestination, signal?: AbortSignal): Promise<Socket> {
  const socket = await dial(destination, signal);
  if (url.protocol !== 'https:') return socket;

  const host = bareHost(url.hostname);
  const secured = startTls({
    socket,
    host,
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ['http/1.1'],
  });
  await readyWithin(secured, 'secureConnect', signal);
  return secured;
}

async function readyWithin(socket: Socket, event: string, signal: AbortSignal | undefined): Promise<void> {
  const timer = setTimeout(() => socket.destroy(new Error('no connection in time')), connectTimeoutMs);
  try {
    await once(socket, event, { ...(signal && { signal }) });
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function isSameAddress(actual: string | undefined, expected: string): boolean {
  const family = actual === undefined ? 0 : isIP(actual);
  if (actual === undefined || family !== isIP(expected)) return false;
  const version = family === 6 ? 'ipv6' : 'ipv4';
  const only = new BlockList();
  only.addAddress(expected, version);
  return only.check(actual, version);
}
