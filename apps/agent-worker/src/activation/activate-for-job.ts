import type { RunId } from '@rondo/contract';
import type { AgentRunner } from './agent-runner';
import type { ActivationOutcome } from './agent-runner-parts';

/** A job that waited longer shows that more runs are due than workers can activate. */
export const backlogAfterMs = 100;

interface DueJob {
  readonly runId: RunId;
  readonly waitedMs: number;
}

/**
 * A job says that one run is due. Without a backlog the worker activates that run. In a backlog it activates the run
 * whose turn it is; the job of that run later finds it claimed and activates the next one. There are as many jobs as
 * due runs, so no run is left out, and an account with a thousand queued runs waits as long for its next activation as
 * an account with a single one.
 */
export async function activateForJob(
  runner: Pick<AgentRunner, 'activate' | 'activateNext'>,
  { runId, waitedMs }: DueJob,
): Promise<ActivationOutcome> {
  const outcome = waitedMs <= backlogAfterMs ? await runner.activate(runId) : 'not due';
  return outcome === 'not due' ? runner.activateNext() : outcome;
}
