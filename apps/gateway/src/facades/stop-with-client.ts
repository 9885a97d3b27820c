import type { RunAddress } from '@rondo/persistence';
import type { Response } from 'express';
import type { RunService } from '../runs/run-service';

/** Stops the run when its client closes the response. A client asks for this: by default a run goes on without those who watch it. */
export function stopWithClient(service: Pick<RunService, 'stop'>, run: RunAddress, response: Response): void {
  response.once('close', () => {
    if (!response.writableEnded) void service.stop(run, 'the client disconnected').catch(() => undefined);
  });
}
