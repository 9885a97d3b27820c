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

/** What the run and all runs below it have used. Costs of which one is not known have no sum. */
export async function sumUsage({ id, settings, usage }: Run, rondo: Rondo): Promise<Run['usage']> {
  if (!settings.tools.includes('run_agent')) return usage;
  let sum = usage;
  for await (const child of rondo.runs.list({ parent_run_id: id, limit: 100 }))
    sum = addUsage(sum, await sumUsage(child, rondo));
  return sum;
}

const addUsage = (one: Run['usage'], other: Run['usage']): Run['usage'] => ({
  input_tokens: one.input_tokens + other.input_tokens,
  cached_tokens: one.cached_tokens + other.cached_tokens,
  output_tokens: one.output_tokens + other.output_tokens,
  cost_usd: one.cost_usd === null || other.cost_usd === null ? null : one.cost_usd + other.cost_usd,
});
