import { setTimeout as sleep } from 'node:timers/promises';
import { AbandonedError, type ActiveRuns, type OutboxRelay, type PeriodicTasks } from '@rondo/run-holder';
import type { RunProcessor } from './run.processor';

interface Parts {
  readonly processor: Pick<RunProcessor, 'pause'>;
  readonly activeRuns: ActiveRuns;
  readonly tasks: Pick<PeriodicTasks, 'stop'>;
  /** Moves the jobs of the released runs to Redis. */
  readonly relay: Pick<OutboxRelay, 'publish'>;
}

/** Redis may be away. A job that it does not get is found in the outbox seconds later. */
const publishWithinMs = 1_000;

/**
 * Releases every run to other workers: accepts no more jobs, asks the active runs to leave at their next boundary, and
 * abandons the rest after `drainMs`. No run fails by this, and none is charged a fruitless claim: the next holder
 * replays the log, at once where Redis gets its job in time. A run that still arrives is abandoned at once.
 */
export async function releaseAllRuns({ processor, activeRuns, tasks, relay }: Parts, drainMs: number): Promise<void> {
  processor.pause();
  activeRuns.drain();

  const timeout = setTimeout(() => activeRuns.abandonAll(new AbandonedError('the worker is shutting down')), drainMs);
  await activeRuns.empty();
  clearTimeout(timeout);
  await Promise.race([relay.publish(), sleep(publishWithinMs, undefined, { ref: false })]);
  await tasks.stop(); // last: the heartbeat keeps the leases until the runs are released
}
