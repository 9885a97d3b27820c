import type { RunWait } from '@rondo/contract';
import { explainQueueShare } from '@rondo/domain';
import type { QueueShares } from '@rondo/messaging';
import type { RunAddress, RunHolder, Runs } from '@rondo/persistence';
import type { WorkerSignals } from './worker-signals';

interface RunWaitsParts {
  readonly runs: Pick<Runs, 'why'>;
  readonly queueShares: Pick<QueueShares, 'read'>;
  /** The worker that holds the run, if any. */
  readonly holderOf: (run: RunAddress) => Promise<RunHolder | undefined>;
  readonly workers: Pick<WorkerSignals, 'callsProblem'>;
}

/**
 * What runs wait for: Postgres knows it of all, Redis of which the worker waits until a call may be sent, and a worker itself
 * why it can send none.
 */
export class RunWaits {
  constructor(private readonly parts: RunWaitsParts) {}

  /** Rejects with `run_not_found`. While Redis is away, a call that waits to be sent counts as running. */
  async explain(address: RunAddress): Promise<RunWait> {
    const wait = await this.parts.runs.why(address);
    if (wait.cause !== 'tool') return wait;
    const problem = await this.callsProblem(address);
    if (problem !== undefined) return { ...wait, sentence: `${sendingWaits(wait)} ${problem}` };
    const share = await this.parts.queueShares.read(address.accountId).catch(() => undefined);
    return share?.waitingRuns.includes(address.runId) ? explainQueueShare(wait) : wait;
  }

  private async callsProblem(address: RunAddress): Promise<string | undefined> {
    const holder = await this.parts.holderOf(address);
    return holder && this.parts.workers.callsProblem(holder.workerId, address.runId);
  }
}

const sendingWaits = ({ tool_calls: calls = [] }: RunWait): string =>
  `Waits to send ${calls.map(({ name }) => name).join(', ')}.`;
