import { type Rondo, type Run, RunFailedError } from '@rondo/client';

/** Waits for the end of a run. One that waits for a person or a caller's results is stopped: an evaluation has neither. */
export async function waitForEnd(runId: string, rondo: Rondo, signal: AbortSignal): Promise<Run> {
  const run = await rondo.runs.wait(runId, { signal });
  if (run.waiting === null) return run;
  await rondo.runs.stop(runId, { reason: 'an evaluation has no one to answer' });
  return { ...(await rondo.runs.get(runId)), waiting: run.waiting };
}

/** Null of a run that did not complete. */
export async function findResponse(run: Run, rondo: Rondo): Promise<string | null> {
  if (run.status !== 'completed') return null;
  try {
    return (await rondo.runs.result(run.id)).result.response;
  } catch (error) {
    if (error instanceof RunFailedError) return null;
    throw error;
  }
}

/** Why a run did not complete; null of one that did. */
export function findError({ status, error, waiting }: Run): string | null {
  if (status === 'failed') return error === null ? 'failed' : `${error.code}: ${error.message}`;
  if (status !== 'stopped') return null;
  return waiting ? `stopped: it waited for a person (${waiting.reason})` : 'stopped';
}
