import type { RunQueues } from '@rondo/messaging';
import type { Outbox } from '@rondo/persistence';

/** Brings what was committed to the queues. When they are away nothing is lost: a later round does it. */
export class OutboxRelay {
  constructor(
    private readonly outbox: Outbox,
    private readonly queues: RunQueues,
    private readonly failed: (error: unknown) => void,
  ) {}

  async publish(): Promise<void> {
    try {
      await this.outbox.publish(({ topic, payload: { run_id: runId, thread_id: threadId, activation } }) =>
        this.queues.add(topic, { runId, threadId, activation }),
      );
    } catch (error) {
      this.failed(error);
    }
  }
}
