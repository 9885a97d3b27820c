import type { RunId } from '@rondo/contract';
import type { AgentRunner, ActivationOutcome } from './agent-runner';

/** A job that waited for so long did so because there are more runs than places. */
export const backlogAfterMs = 100;

interface Due {
  readonly runId: RunId;
  readonly waitedMs: number;
}

/**
 * A job says that one run is due. While there are places for all, that is the run that it names. In a backlog it is the one
 * whose turn it is, whose own job then finds that run taken and takes the next: there are as many jobs as runs, and none of
 * them is in vain. So an account with a thousand runs in the queue is as far from its next place as one with a single run.
 */
export async function takeTurn(
  runner: Pick<AgentRunner, 'activate' | 'activateNext'>,
  { runId, waitedMs }: Due,
): Promise<ActivationOutcome> {
  const verdict = waitedMs <= backlogAfterMs ? await runner.activate(runId) : 'not due';
  return verdict === 'not due' ? runner.activateNext() : verdict;
}
