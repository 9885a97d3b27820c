import { AbandonedError } from './active-run';
import type { ActiveRuns } from './active-runs';
import type { PeriodicTasks } from '../maintenance/periodic-tasks';
import type { RunProcessor } from './run.processor';

/**
 * Leaves every run to others: takes no more, asks those in hand to leave at their next boundary, and after `patienceMs`
 * makes the rest leave now. Nothing fails by this, and nothing is charged: the next holder replays the log (R6, R14).
 * It waits for no Redis: a run that comes in the meantime is left at once.
 */
export async function leaveAllRuns(
  {
    processor,
    held,
    rounds,
  }: { processor: Pick<RunProcessor, 'pause'>; held: ActiveRuns; rounds: Pick<PeriodicTasks, 'stop'> },
  patienceMs: number,
): Promise<void> {
  processor.pause();
  held.drain();

  const impatience = setTimeout(() => {
    held.all().forEach((run) => run.abandon(new AbandonedError('the worker is shutting down')));
  }, patienceMs);
  await held.empty();
  clearTimeout(impatience);
  await rounds.stop();
}
