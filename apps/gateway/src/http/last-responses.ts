import type { RequestHandler, Response } from 'express';

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
