import type { RunQueueName } from '@rondo/domain';
import { type Activation, RunQueue, type RunQueueOptions } from './run-queue';

/** All queues of runs; the outbox relay adds jobs to each. */
export class RunQueues {
  readonly runs: RunQueue;
  readonly compactions: RunQueue;

  constructor(options: Omit<RunQueueOptions, 'name'>) {
    this.runs = new RunQueue({ ...options, name: 'runs' });
    this.compactions = new RunQueue({ ...options, name: 'compactions' });
  }

  add(queue: RunQueueName, activation: Activation): Promise<void> {
    return this[queue].add(activation);
  }

  /** Rejects while Redis cannot be reached; for readiness checks. */
  async ping(): Promise<void> {
    await this.runs.ping();
  }

  /** Rejects where Redis is in cluster mode, for the start of a process. */
  async refuseClusterMode(): Promise<void> {
    await this.runs.refuseClusterMode();
  }

  async close(): Promise<void> {
    await Promise.all([this.runs.close(), this.compactions.close()]);
  }
}
