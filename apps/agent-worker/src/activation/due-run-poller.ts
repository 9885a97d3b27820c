import type { RunId } from '@rondo/contract';
import type { ActiveRuns } from './active-runs';

export interface DueRunPollerParts {
  readonly queue: { answers(): Promise<boolean> };
  readonly store: { due(order: { sinceMs: number; limit: number }): Promise<readonly RunId[]> };
  readonly held: ActiveRuns;
  readonly concurrency: number;
  /** Takes the run whose turn it is. */
  readonly activateNext: () => Promise<unknown>;
  readonly failed: (error: unknown) => void;
}

/** Leaves a silent queue its chance: a run that is younger was perhaps just taken off it. */
const overdueAfterMs = 500;
/** Where a worker has a place, no job waits for so long. */
const strandedAfterMs = 4_000;

/**
 * Where this worker hears of runs that are due. That is the queue, and as long as the queue does not answer, Postgres,
 * which knows it anyway: without Redis runs go on, only less evenly shared among workers (I1, R11). From a queue that answers a run may
 * be missing too: a worker that died between taking the job and claiming the run has left it locked there for a minute.
 */
export class DueRunPoller {
  private lookedAt = performance.now();
  private queueAnswers = true;

  constructor(private readonly parts: DueRunPollerParts) {}

  async look(): Promise<void> {
    this.queueAnswers = await this.parts.queue.answers();
    if (this.queueAnswers)
      await this.takeDueRuns(strandedAfterMs).catch(() => undefined); // the queue was asked
    else await this.takeDueRuns(overdueAfterMs);
    this.lookedAt = performance.now();
  }

  /** Rejects while Redis does not answer over the connection by which jobs come; for readiness. */
  hearsQueue(): Promise<void> {
    return this.queueAnswers ? Promise.resolve() : Promise.reject(new Error('the queue is silent'));
  }

  /** Rejects when it has learnt from neither for so long what is due; for liveness. */
  hasLooked(withinMs: number): Promise<void> {
    const isLate = performance.now() - this.lookedAt > withinMs;
    return isLate ? Promise.reject(new Error('neither the queue nor Postgres answered')) : Promise.resolve();
  }

  private async takeDueRuns(sinceMs: number): Promise<void> {
    const { store, held, concurrency, activateNext, failed } = this.parts;
    const limit = concurrency - held.size;
    if (limit <= 0 || held.isLeaving) return;

    const overdue = await store.due({ sinceMs, limit });
    for (const _ of overdue) activateNext().catch(failed);
  }
}
