import type { RunWait } from '@rondo/contract';
import { explainQueueShare } from '@rondo/domain';
import type { QueueShares } from '@rondo/messaging';
import type { RunAddress, Runs } from '@rondo/persistence';

interface RunWaitsParts {
  readonly runs: Pick<Runs, 'why'>;
  readonly queueShares: Pick<QueueShares, 'read'>;
}

/** What runs wait for: Postgres knows it of all, and Redis of which the worker waits until a call may be sent. */
export class RunWaits {
  constructor(private readonly parts: RunWaitsParts) {}

  /** Rejects with `run_not_found`. While Redis is away, a call that waits to be sent counts as running. */
  async explain(address: RunAddress): Promise<RunWait> {
    const wait = await this.parts.runs.why(address);
    if (wait.cause !== 'tool') return wait;
    const share = await this.parts.queueShares.read(address.accountId).catch(() => undefined);
    return share?.waitingRuns.includes(address.runId) ? explainQueueShare(wait) : wait;
  }
}
