import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { RequestHandler } from 'express';

/** Asks the network whether a client that sends and takes nothing is still there. */
const keepAliveMs = 30_000;

/** A client that takes nothing of what waits for it is cut off, since a tunnel waits with it. */
const usualStalledMs = 30_000;

/** What has begun for the client of each socket. One set each, because a client may send many requests in one go. */
const begun = new WeakMap<Socket, Set<AbortController>>();

/**
 * What a client began ends when its socket closes. The signal is aborted then, and when the response has ended: at once if
 * that was before this call. A request that becomes a connection (an upgrade) has no response.
 */
export function clientSignal(
  { socket }: Pick<IncomingMessage, 'socket'>,
  response?: ServerResponse,
  stalledMs = usualStalledMs,
): AbortSignal {
  const leaving = new AbortController();
  if (socket.destroyed || response?.closed) {
    leaving.abort();
    return leaving.signal;
  }
  const all = begun.get(socket) ?? watchSocket(socket);
  all.add(leaving);
  if (response) dropResponseWhenStalled(response, socket, stalledMs);
  response?.once('close', () => {
    all.delete(leaving);
    leaving.abort();
  });
  return leaving.signal;
}

/** Does it when the response has ended or its client has left: at once if that was before this call. */
export function whenClosed(response: ServerResponse, act: () => void): void {
  if (response.closed) act();
  else response.once('close', act);
}

/** Drops the answers to all requests that are not taken: each waits in the memory of this process. */
export const dropStalledClients =
  (stalledMs: number): RequestHandler =>
  ({ socket }, response, next) => {
    dropResponseWhenStalled(response, socket, stalledMs);
    next();
  };

/** The same for an upgraded connection, and for a client that sends what the other side does not take. */
export function dropWhenStalled(socket: Socket, other: Writable, stalledMs = usualStalledMs): void {
  socket.removeAllListeners('timeout'); // an idle connection may stay, whatever the server of requests thinks of it
  socket.setTimeout(stalledMs, () => destroyIf(socket, socket.writableLength + other.writableLength > 0));
}

const dropResponseWhenStalled = (response: ServerResponse, socket: Socket, stalledMs: number): void => {
  response.setTimeout(stalledMs, () => destroyIf(socket, socket.writableLength > 0));
};

function destroyIf(socket: Socket, isStalled: boolean): void {
  if (isStalled) socket.destroy();
}

function watchSocket(socket: Socket): Set<AbortController> {
  const all = new Set<AbortController>();
  begun.set(socket, all);
  socket.setKeepAlive(true, keepAliveMs);
  socket.once('close', () => {
    for (const leaving of all) leaving.abort();
  });
  return all;
}
