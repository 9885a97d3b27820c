import type { RunId } from '@rondo/contract';
import type { Caller } from '@rondo/persistence';
import type { Response } from 'express';
import { requireScope } from '../auth/api-request';
import { whenClosed } from '../http/client-signal';
import type { RunService } from '../runs/run-service';

interface Client {
  readonly caller: Caller;
  readonly response: Response;
}

/**
 * Stops the run when its client closes the response, or has closed it while the run was begun. A client asks for this: by default a run goes on without those who watch it.
 * Throws `forbidden` for a key that only reads, which may watch.
 */
export function stopWithClient(service: Pick<RunService, 'stop'>, runId: RunId, { caller, response }: Client): void {
  requireScope(caller, 'write');
  const run = { accountId: caller.accountId, runId };
  whenClosed(response, () => {
    if (!response.writableEnded) void service.stop(run, 'the client disconnected').catch(() => undefined);
  });
}
