import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { RequestHandler, Response } from 'express';

const lookEveryMs = 50;

/**
 * Once `stopping` is aborted, each response is the last of its connection, those of open requests too. Its client then opens
 * another connection for its next request, to a gateway that stays, and none meets one that closes under it.
 */
export function lastResponses(stopping: AbortSignal): RequestHandler {
  const open = new Set<Response>();
  stopping.addEventListener('abort', () => {
    for (const response of open) closeAfter(response);
  });
  return (_, response, next) => {
    if (stopping.aborted) closeAfter(response);
    open.add(response);
    response.once('close', () => open.delete(response));
    next();
  };
}

function closeAfter(response: Response): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/** Resolves when no client is connected, or after `withinMs`: then the rest are idle, or wait for something. */
export async function untilUnused(server: Server, { withinMs }: { withinMs: number }): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (performance.now() < deadline && (await readConnections(server)) > 0) await delay(lookEveryMs);
}

export function readConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => {
      if (error) reject(error);
      else resolve(count);
    });
  });
}
