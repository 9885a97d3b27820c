import type { WorkSignal } from '@rondo/messaging';
import type { WorkAhead } from '@rondo/persistence';
import type { TaskSchedule } from './periodic-tasks';

const lookEveryMs = 10_000;
/** What becomes due before the next look has ended keeps a process awake. */
const aheadMs = 12_500;
/** Longer than the time to the next look, which finds what the signal announced. */
const awakeMs = 15_000;
/** A task that rests is still executed so often, for what no look can find. */
const atLeastEveryMs = 60_000;

interface RestParts {
  readonly signal: Pick<WorkSignal, 'isHeard' | 'onWork'>;
  readonly work: Pick<WorkAhead, 'within'>;
  readonly nowMs?: () => number;
}

/**
 * Lets the periodic tasks of a process rest while the whole deployment has nothing to do: one statement every ten seconds then
 * looks for all of them, and a signal over NATS ends the rest before work is written. While signals may be missed, or Postgres
 * does not answer, nothing rests.
 */
export class Rest {
  /** The last look found nothing for the time until then. */
  private quietUntilMs = -Infinity;
  private awakeUntilMs: number;
  private readonly nowMs: () => number;

  constructor(private readonly parts: RestParts) {
    this.nowMs = parts.nowMs ?? (() => performance.now());
    this.awakeUntilMs = this.nowMs() + awakeMs;
    parts.signal.onWork(() => (this.awakeUntilMs = this.nowMs() + awakeMs));
  }

  /** The look for work, which the process adds to its tasks. */
  readonly task: TaskSchedule = { everyMs: lookEveryMs, work: () => this.look() };

  get isResting(): boolean {
    const now = this.nowMs();
    return now >= this.awakeUntilMs && now < this.quietUntilMs && this.parts.signal.isHeard;
  }

  /** The work of a task that has nothing to do while the deployment rests. */
  unlessResting(work: () => Promise<unknown>): () => Promise<void> {
    let doneAtMs = -Infinity;
    return async () => {
      const now = this.nowMs();
      if (this.isResting && now - doneAtMs < atLeastEveryMs) return;
      await work();
      doneAtMs = now;
    };
  }

  private async look(): Promise<void> {
    const since = this.nowMs();
    const isAhead = await this.parts.work.within(aheadMs);
    this.quietUntilMs = isAhead ? -Infinity : since + aheadMs;
  }
}
