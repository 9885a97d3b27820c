import type { RunId } from '@rondo/contract';
import type { ActiveRuns, Rest } from '@rondo/run-holder';

export interface DueRunPollerParts {
  readonly queue: { answers(): Promise<boolean> };
  readonly store: { due(order: { sinceMs: number; limit: number }): Promise<readonly RunId[]> };
  readonly activeRuns: ActiveRuns;
  readonly rest: Pick<Rest, 'isResting'>;
  readonly concurrency: number;
  /** Claims and runs the run whose turn it is. */
  readonly activateNext: () => Promise<unknown>;
  readonly failed: (error: unknown) => void;
}

/** A run that has been due for less time may have a job on its way to a worker, so it is left to the queue. */
const overdueAfterMs = 500;
/** While a worker has free capacity, no job waits that long. */
const strandedAfterMs = 4_000;
/** How often the queue is asked while the deployment rests. */
const askAfterMs = 5_000;

/**
 * Finds due runs in Postgres that the queue does not deliver. While Redis does not answer these are all due runs: they
 * continue without it, only less evenly spread over the workers (I1). While it answers, a run may still be missing: a
 * worker that died between fetching a job and claiming its run has left the job locked for a minute.
 */
export class DueRunPoller {
  private polledAt = performance.now();
  private askedAt = -Infinity;
  private queueAnswers = true;

  constructor(private readonly parts: DueRunPollerParts) {}

  async poll(): Promise<void> {
    const now = performance.now();
    if (this.parts.rest.isResting && this.queueAnswers && now - this.askedAt < askAfterMs) return;
    this.askedAt = now;
    this.queueAnswers = await this.parts.queue.answers();
    if (!this.queueAnswers) await this.activateDue(overdueAfterMs);
    else if (!this.parts.rest.isResting) await this.activateDue(strandedAfterMs).catch(() => undefined); // the queue still delivers runs
    this.polledAt = performance.now();
  }

  /** Rejects while Redis does not answer on the connection that delivers jobs; for readiness. */
  checkQueue(): Promise<void> {
    return this.queueAnswers ? Promise.resolve() : Promise.reject(new Error('the queue does not answer'));
  }

  /** Rejects when neither the queue nor Postgres has answered for `limitMs`; for liveness. */
  assertPolled(limitMs: number): Promise<void> {
    const patienceMs = limitMs + (this.parts.rest.isResting ? askAfterMs : 0);
    const isLate = performance.now() - this.polledAt > patienceMs;
    return isLate ? Promise.reject(new Error('neither the queue nor Postgres answered')) : Promise.resolve();
  }

  private async activateDue(sinceMs: number): Promise<void> {
    const { store, activeRuns, concurrency, activateNext, failed } = this.parts;
    const limit = concurrency - activeRuns.size;
    if (limit <= 0 || activeRuns.isDraining) return;

    const overdue = await store.due({ sinceMs, limit });
    for (const _ of overdue) activateNext().catch(failed);
  }
}
