import type { RunId } from '@rondo/contract';
import type { AgentRunner } from './agent-runner';
import type { ActivationOutcome } from './agent-runner-parts';

/** A job that waited longer shows that more runs are due than workers can activate. */
export const backlogAfterMs = 100;

/** Runs of a newer version that are met instead of the next run; more than that are left to later jobs. */
const mostPassedOver = 10;

interface DueJob {
  readonly runId: RunId;
  readonly waitedMs: number;
}

/**
 * A job says that one run is due. Without a backlog the worker activates that run. In a backlog it activates the run
 * whose turn it is; the job of that run later finds it claimed and activates the next one. There are as many jobs as
 * due runs, so no run is left out, and an account with a thousand queued runs waits as long for its next activation as
 * an account with a single one. A run that only a newer version can continue is passed over, or it would use up the job of
 * another.
 */
export async function activateForJob(
  runner: Pick<AgentRunner, 'activate' | 'activateNext'>,
  { runId, waitedMs }: DueJob,
): Promise<ActivationOutcome> {
  let outcome = waitedMs <= backlogAfterMs ? await runner.activate(runId) : 'not due';
  if (outcome === 'not due') outcome = await runner.activateNext();
  for (let count = 1; outcome === 'needs a newer version' && count <= mostPassedOver; count += 1) {
    outcome = await runner.activateNext();
  }
  return outcome;
}
