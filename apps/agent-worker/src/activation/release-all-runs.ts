import { AbandonedError, type ActiveRuns, type PeriodicTasks } from '@rondo/run-holder';
import type { RunProcessor } from './run.processor';

interface Parts {
  readonly processor: Pick<RunProcessor, 'pause'>;
  readonly activeRuns: ActiveRuns;
  readonly tasks: Pick<PeriodicTasks, 'stop'>;
}

/**
 * Releases every run to other workers: accepts no more jobs, asks the active runs to leave at their next boundary, and
 * abandons the rest after `drainMs`. No run fails by this, and none is charged a fruitless claim: the next holder
 * replays the log. It waits for no answer of Redis: a run that still arrives is abandoned at once.
 */
export async function releaseAllRuns({ processor, activeRuns, tasks }: Parts, drainMs: number): Promise<void> {
  processor.pause();
  activeRuns.drain();

  const timeout = setTimeout(() => activeRuns.abandonAll(new AbandonedError('the worker is shutting down')), drainMs);
  await activeRuns.empty();
  clearTimeout(timeout);
  await tasks.stop(); // last: the heartbeat keeps the leases until the runs are released
}
